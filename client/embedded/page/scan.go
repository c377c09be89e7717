package page

import (
	"bytes"
	"sync"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// skipped lists the elements whose content is invisible or the same on all pages of a site.
var skipped = map[atom.Atom]bool{
	atom.Style: true, atom.Noscript: true, atom.Template: true,
	atom.Svg: true, atom.Math: true, atom.Iframe: true, atom.Object: true,
	atom.Nav: true, atom.Footer: true, atom.Select: true, atom.Textarea: true,
}

// containers lists the elements that are set aside if they are hidden or a banner. Their end tags
// are seldom missing.
var containers = map[atom.Atom]bool{
	atom.Div: true, atom.Section: true, atom.Aside: true, atom.Form: true, atom.Dialog: true,
	atom.Span: true, atom.Ul: true, atom.Ol: true, atom.Table: true, atom.Header: true, atom.A: true,
}

// inline lists the elements that do not separate words: <b>S</b>hop is one word.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Big: true,
	atom.Cite: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Ins: true,
	atom.Kbd: true, atom.Mark: true, atom.Q: true, atom.S: true, atom.Small: true, atom.Span: true,
	atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Tt: true, atom.U: true, atom.Wbr: true,
}

// A scanner builds a Page from tokens. It keeps no tree, so elements may be nested deeply or wrongly.
type scanner struct {
	parts Page
	attrs attributes
	data  schema

	text    folder
	aside   folder // text of elements set aside, used if the page has no other text
	title   folder
	heading folder

	inTitle, inHeading bool
	script             script
	skip               atom.Atom  // the kind of element that is being left out; 0 for none
	depth              int        // the number of open elements of the kind skip
	why                skipReason // the reason for skip
	asideStart         int        // the start in aside of the text of the element that is left out
}

// skipReason is the reason to leave out an element. The text of elements that are left out by name is dropped. Other reasons
// are guesses, so the text is set aside.
type skipReason int

const (
	byName skipReason = iota
	isHidden
	isBanner
)

// script is the kind of script that the tokenizer is in.
type script int

const (
	noScript script = iota
	program
	jsonLD
)

// scanners are reused for their buffers.
var scanners = sync.Pool{New: func() any { return &scanner{attrs: attributes{}} }}

func (s *scanner) reset() {
	s.text.reset(maxText)
	s.aside.reset(maxAside)
	s.title.reset(maxTitle)
	s.heading.reset(maxHeading)
	s.data.reset()
	*s = scanner{attrs: s.attrs, text: s.text, aside: s.aside, title: s.title, heading: s.heading, data: s.data}
}

func (s *scanner) token(z *html.Tokenizer, kind html.TokenType) {
	switch kind {
	case html.TextToken:
		s.chars(z.Text())
	case html.StartTagToken, html.SelfClosingTagToken:
		s.start(z, kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := z.TagName()
		s.end(atom.Lookup(name))
	}
}

func (s *scanner) chars(text []byte) {
	if s.script != noScript {
		if s.script == jsonLD {
			s.data.readJSON(text)
		}
		return
	}
	s.data.chars(text)
	switch {
	case s.skip != 0 && s.why != byName:
		s.aside.write(text)
	case s.skip != 0:
	case s.inTitle:
		s.title.write(text)
	default:
		s.text.write(text)
		if s.inHeading {
			s.heading.write(text)
		}
	}
}

func (s *scanner) start(z *html.Tokenizer, selfClosing bool) {
	name, hasAttrs := z.TagName()
	tag := atom.Lookup(name)
	a := s.attrs
	a.read(z, hasAttrs && mayHaveAttributes(tag, z.Raw()))
	s.readAnywhere(tag)
	if tag == atom.Script {
		return
	}
	s.data.start(tag, a)
	if s.skip != 0 && !s.endsSkipped(tag) {
		if tag == s.skip && !selfClosing {
			s.depth++
		}
		s.aside.gap()
		return
	}
	s.separateWords(tag)
	switch {
	case skipped[tag] || containers[tag] && isNavigation(a["role"]):
		if !selfClosing || !foreign(tag) { // HTML ignores the slash of <nav/>, unlike SVG
			s.leaveOut(tag, byName)
		}
	case containers[tag] && a.isHidden():
		s.leaveOut(tag, isHidden)
	case containers[tag] && a.isConsent():
		s.leaveOut(tag, isBanner)
	default:
		s.open(z, tag)
	}
}

func (s *scanner) leaveOut(tag atom.Atom, why skipReason) {
	s.aside.gap()
	s.skip, s.depth, s.why, s.asideStart = tag, 1, why, len(s.aside.text)
}

// readAnywhere reads elements that count in every part of a page.
func (s *scanner) readAnywhere(tag atom.Atom) {
	switch tag {
	case atom.Script:
		s.script = program
		if hasPrefixFold(bytes.TrimSpace(s.attrs["type"]), "application/ld+json") {
			s.script = jsonLD
		}
		fallthrough
	case atom.Iframe, atom.Frame:
		if service := parkingService(s.attrs["src"]); service != "" {
			s.parts.ParkedBy = service
		}
	}
}

// open begins an element whose content is read.
func (s *scanner) open(z *html.Tokenizer, tag atom.Atom) {
	switch tag {
	case atom.Title:
		s.inTitle = true
	case atom.H1, atom.H2, atom.H3:
		s.endHeading()
		s.inHeading = true
	case atom.Meta:
		s.parts.meta(s.attrs)
	case atom.Img:
		alt := s.attrs["alt"]
		s.text.write(alt[:min(len(alt), maxAlt)])
		s.text.gap()
	case atom.Noframes:
		z.NextIsNotRawText() // frames are not shown, so <noframes> is shown
	}
}

func isNavigation(role []byte) bool {
	return bytes.EqualFold(role, []byte("navigation")) || bytes.EqualFold(role, []byte("contentinfo"))
}

// endsSkipped ends the skipped element at a tag that the element cannot contain, and reports whether it has ended the element:
// navigation, footers and banners contain no main part of a page, so the end tag is missing.
func (s *scanner) endsSkipped(tag atom.Atom) bool {
	if tag != atom.Main && tag != atom.Article || foreign(s.skip) || s.skip == atom.Template {
		return false
	}
	s.endSkip()
	return true
}

func foreign(tag atom.Atom) bool { return tag == atom.Svg || tag == atom.Math }

func (s *scanner) end(tag atom.Atom) {
	if tag == atom.Script {
		s.script = noScript
		return
	}
	s.data.end(tag)
	if s.skip != 0 {
		if tag == s.skip {
			s.depth--
		}
		if s.depth == 0 {
			s.endSkip()
		}
		return
	}
	s.separateWords(tag)
	switch tag {
	case atom.Title:
		s.endTitle()
	case atom.H1, atom.H2, atom.H3:
		s.endHeading()
	}
}

// endSkip ends a skipped element. The text of a banner is dropped, unless it is longer than the text of any banner: then it is
// the page's own text.
func (s *scanner) endSkip() {
	s.skip = 0
	if s.why != isBanner {
		return
	}
	if len(s.aside.text)-s.asideStart > maxBanner {
		s.restoreAside(s.asideStart)
	}
	s.aside.text = s.aside.text[:s.asideStart]
}

// restoreAside moves the text that was set aside, from start on, to the page's text.
func (s *scanner) restoreAside(start int) {
	s.text.gap()
	s.text.write(s.aside.text[start:])
	s.text.gap()
}

// separateWords separates the words before and after a tag, unless its element is inline.
func (s *scanner) separateWords(tag atom.Atom) {
	if inline[tag] {
		return
	}
	s.text.gap()
	if s.inHeading {
		s.heading.gap()
	}
}

func (s *scanner) endTitle() {
	if s.inTitle {
		if s.parts.Title == "" {
			s.parts.Title = s.title.String()
		}
		s.title.reset(maxTitle)
		s.inTitle = false
	}
}

func (s *scanner) endHeading() {
	if !s.inHeading {
		return
	}
	if len(s.heading.text) > 0 && len(s.parts.Headings) < maxHeadings {
		s.parts.Headings = append(s.parts.Headings, s.heading.String())
	}
	s.heading.reset(maxHeading)
	s.inHeading = false
}

func (s *scanner) page() Page {
	s.endTitle()
	s.endHeading()
	switch {
	case s.skip != 0 && s.why != byName: // its end tag is missing, so the text may be the page's own
		s.restoreAside(s.asideStart)
	case len(s.text.text) == 0: // for example because a script makes the page visible
		s.restoreAside(0)
	}
	s.parts.Text = s.text.String()
	s.data.fill(&s.parts)
	return s.parts
}
