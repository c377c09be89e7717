// Package robots reads robots.txt, in which a site says what crawlers may fetch
// (RFC 9309).
//
// Terms, those of the RFC: a group is a run of user-agent lines and the rules
// under them; a rule allows or disallows the paths that its pattern matches; a
// product token is the name a crawler goes by, without its version.
package robots

import (
	"bytes"
	"strings"
)

// MaxBytes is how much of a file counts, as much as the RFC asks for (§2.5).
// Parse reads no more.
const MaxBytes = 500 << 10

// Rules are what a file says to one crawler. The zero value allows everything.
type Rules struct {
	rules []rule
}

// Nothing returns the Rules that allow nothing.
func Nothing() Rules { return Rules{[]rule{{pattern: "/"}}} }

// Parse returns the rules for the crawler of a product token: those of all
// groups that name it, or else of all for "*". Every text is some robots.txt;
// lines that are none are passed over, as the RFC asks.
func Parse(text []byte, product string) Rules {
	p := parser{product: product}
	text = bytes.TrimPrefix(text[:min(len(text), MaxBytes)], []byte("\ufeff"))
	for len(text) > 0 {
		line := text
		if end := bytes.IndexAny(text, "\r\n"); end >= 0 {
			line, text = text[:end], text[end+1:]
		} else {
			text = nil
		}
		p.line(line)
	}
	if p.named {
		return Rules{p.own}
	}
	return Rules{p.all}
}

// Allows tells whether a path, with its query, may be fetched. The longest
// pattern that matches decides; of two as long, the one that allows (§2.2.2).
func (r Rules) Allows(path string) bool {
	path = normalize(path)
	longest, allowed := -1, true
	for _, rule := range r.rules {
		n := len(rule.pattern)
		if n < longest || n == longest && (allowed || !rule.allow) || !rule.matches(path) {
			continue
		}
		longest, allowed = n, rule.allow
	}
	return allowed
}

// Size returns about how many bytes of memory the rules take.
func (r Rules) Size() int {
	size := 64
	for _, rule := range r.rules {
		size += 24 + len(rule.pattern)
	}
	return size
}

// parser collects the rules of the groups that concern a product.
type parser struct {
	product string
	own     []rule // of groups that name the product
	all     []rule // of groups for everyone
	named   bool   // a group names the product, be it without rules

	forOwn, forAll bool // the group being read concerns them
	inRules        bool // a rule was read: the next user-agent line opens another group
}

func (p *parser) line(line []byte) {
	if hash := bytes.IndexByte(line, '#'); hash >= 0 {
		line = line[:hash]
	}
	key, value, ok := bytes.Cut(line, []byte(":"))
	if !ok {
		return
	}
	key, value = bytes.TrimSpace(key), bytes.TrimSpace(value)
	switch {
	case bytes.EqualFold(key, []byte("user-agent")):
		p.agent(value)
	case bytes.EqualFold(key, []byte("allow")):
		p.rule(true, value)
	case bytes.EqualFold(key, []byte("disallow")):
		p.rule(false, value)
	}
}

func (p *parser) agent(value []byte) {
	if p.inRules {
		p.forOwn, p.forAll, p.inRules = false, false, false
	}
	switch {
	case len(value) > 0 && value[0] == '*':
		p.forAll = true
	case strings.EqualFold(productToken(value), p.product):
		p.forOwn, p.named = true, true
	}
}

// productToken drops what is no part of a token, such as a version.
func productToken(agent []byte) string {
	for i, c := range agent {
		if letter := 'a' <= c|0x20 && c|0x20 <= 'z'; !letter && c != '-' && c != '_' {
			return string(agent[:i])
		}
	}
	return string(agent)
}

func (p *parser) rule(allow bool, pattern []byte) {
	p.inRules = true
	if len(pattern) == 0 { // "Disallow:" disallows nothing
		return
	}
	if !p.forOwn && !p.forAll {
		return
	}
	r := rule{allow: allow, pattern: normalize(string(pattern))}
	if p.forOwn {
		p.own = append(p.own, r)
	}
	if p.forAll {
		p.all = append(p.all, r)
	}
}
