package page

import (
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// skipped lists the elements whose content is not written for readers, or is
// the same on every page of the site.
var skipped = map[atom.Atom]bool{
	atom.Script: true, atom.Style: true, atom.Noscript: true, atom.Template: true,
	atom.Svg: true, atom.Math: true, atom.Iframe: true, atom.Object: true,
	atom.Nav: true, atom.Footer: true, atom.Select: true, atom.Textarea: true,
}

// inline lists the elements that do not part words: <b>S</b>hop is one word.
var inline = map[atom.Atom]bool{
	atom.A: true, atom.Abbr: true, atom.B: true, atom.Bdi: true, atom.Bdo: true, atom.Big: true,
	atom.Cite: true, atom.Code: true, atom.Em: true, atom.Font: true, atom.I: true, atom.Ins: true,
	atom.Kbd: true, atom.Mark: true, atom.Q: true, atom.S: true, atom.Small: true, atom.Span: true,
	atom.Strong: true, atom.Sub: true, atom.Sup: true, atom.Tt: true, atom.U: true, atom.Wbr: true,
}

// A scanner turns tokens into a Page. It keeps no tree, so neither depth nor
// disorder of the elements matters to it.
type scanner struct {
	parts   Page
	text    folder
	title   *folder // while inside <title>
	heading *folder // while inside h1 to h3
	skip    atom.Atom
	depth   int // open elements of the kind skip
}

func newScanner() *scanner {
	return &scanner{text: folder{max: maxText}}
}

func (s *scanner) token(z *html.Tokenizer, kind html.TokenType) {
	switch kind {
	case html.TextToken:
		s.chars(z)
	case html.StartTagToken, html.SelfClosingTagToken:
		s.start(z, kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := z.TagName()
		s.end(atom.Lookup(name))
	}
}

func (s *scanner) chars(z *html.Tokenizer) {
	switch {
	case s.skip != 0:
	case s.title != nil:
		s.title.write(string(z.Text()))
	default:
		text := string(z.Text())
		s.text.write(text)
		if s.heading != nil {
			s.heading.write(text)
		}
	}
}

func (s *scanner) start(z *html.Tokenizer, selfClosing bool) {
	name, hasAttrs := z.TagName()
	tag := atom.Lookup(name)
	if s.skip != 0 && !s.reopens(tag) {
		if tag == s.skip && !selfClosing {
			s.depth++
		}
		return
	}
	s.edge(tag)
	switch {
	case skipped[tag]:
		if !selfClosing || !foreign(tag) { // HTML ignores the slash of <nav/>, SVG does not
			s.skip, s.depth = tag, 1
		}
	case tag == atom.Title:
		s.title = &folder{max: maxTitle}
	case tag == atom.H1 || tag == atom.H2 || tag == atom.H3:
		s.endHeading()
		s.heading = &folder{max: maxHeading}
	case tag == atom.Meta:
		s.parts.meta(attributes(z, hasAttrs))
	case tag == atom.Img:
		s.text.write(fold(attributes(z, hasAttrs)["alt"], maxAlt))
		s.text.gap()
	case tag == atom.Noframes:
		z.NextIsNotRawText() // this page has no frames either
	}
}

// reopens tells whether a tag ends the element being skipped although its end
// tag is missing: the main part of a page stands in neither navigation nor
// footer.
func (s *scanner) reopens(tag atom.Atom) bool {
	if tag != atom.Main && tag != atom.Article || foreign(s.skip) || s.skip == atom.Template {
		return false
	}
	s.skip = 0
	return true
}

func foreign(tag atom.Atom) bool { return tag == atom.Svg || tag == atom.Math }

func (s *scanner) end(tag atom.Atom) {
	if s.skip != 0 {
		if tag == s.skip {
			s.depth--
		}
		if s.depth == 0 {
			s.skip = 0
		}
		return
	}
	s.edge(tag)
	switch tag {
	case atom.Title:
		s.endTitle()
	case atom.H1, atom.H2, atom.H3:
		s.endHeading()
	}
}

// edge parts the words on its two sides, unless the element is inline.
func (s *scanner) edge(tag atom.Atom) {
	if inline[tag] {
		return
	}
	s.text.gap()
	if s.heading != nil {
		s.heading.gap()
	}
}

func (s *scanner) endTitle() {
	if s.title != nil {
		setOnce(&s.parts.Title, s.title.String(), maxTitle)
		s.title = nil
	}
}

func (s *scanner) endHeading() {
	if s.heading == nil {
		return
	}
	if text := s.heading.String(); text != "" && len(s.parts.Headings) < maxHeadings {
		s.parts.Headings = append(s.parts.Headings, text)
	}
	s.heading = nil
}

func (s *scanner) page() Page {
	s.endTitle()
	s.endHeading()
	s.parts.Text = s.text.String()
	return s.parts
}

// attributes returns the attributes of the current tag; of a repeated one the
// first counts.
func attributes(z *html.Tokenizer, more bool) map[string]string {
	attrs := map[string]string{}
	for more {
		var key, value []byte
		key, value, more = z.TagAttr()
		if _, ok := attrs[string(key)]; !ok {
			attrs[string(key)] = string(value)
		}
	}
	return attrs
}
