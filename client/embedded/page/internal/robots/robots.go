// Package robots parses robots.txt, the file of rules for crawlers (RFC 9309).
//
// Terms of the RFC: a group is a run of user-agent lines and the rules under them. A rule allows or disallows the paths that
// its pattern matches. A product token is the name of a crawler without its version.
package robots

import (
	"bytes"
	"strings"
)

// MaxBytes is the most bytes of a file that Parse reads (§2.5).
const MaxBytes = 500 << 10

// Rules are the rules of a file for one crawler. The zero value allows everything.
type Rules struct {
	rules []rule
}

// Nothing returns the Rules that allow nothing.
func Nothing() Rules { return Rules{[]rule{{pattern: "/"}}} }

// Parse returns the rules for the crawler with a product token: the rules of all groups that name
// the token, else of all groups for "*". It skips malformed lines, as the RFC requires.
func Parse(text []byte, product string) Rules {
	p := parser{product: product}
	text = bytes.TrimPrefix(text[:min(len(text), MaxBytes)], []byte("\ufeff"))
	for line := range bytes.FieldsFuncSeq(text, func(c rune) bool { return c == '\r' || c == '\n' }) {
		p.line(line)
	}
	if p.named {
		return Rules{p.own}
	}
	return Rules{p.all}
}

// Allows reports whether a path with its query may be fetched. The longest matching pattern decides. Of two patterns of equal
// length, the pattern that allows decides (§2.2.2).
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

// Size returns the approximate memory of the rules, in bytes.
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
	all     []rule // of groups for "*"
	named   bool   // a group names the product, even if the group has no rules

	forOwn, forAll bool // the present group is for the product, for "*"
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

// productToken returns the product token of a user agent without, for example, its version.
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
