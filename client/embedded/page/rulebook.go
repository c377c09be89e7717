package page

import (
	"container/list"
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/page/robots"
)

const (
	// product is the name that robots.txt knows us by.
	product = "bulkcat"

	robotsPath = "/robots.txt"

	// maxRobotsHops is how many redirects of a robots.txt are followed, as many
	// as RFC 9309 §2.3.1.2 asks for.
	maxRobotsHops = 5

	// rulesLast is how long rules may be kept (RFC 9309 §2.4), and troubleLasts
	// how long a site is left alone whose robots.txt is out of order.
	rulesLast    = 24 * time.Hour
	troubleLasts = 10 * time.Minute

	// silenceLasts is how long a site is left alone that could not be reached:
	// time for those who wait their turn there to learn of it.
	silenceLasts = 30 * time.Second

	// maxRulebook bounds the memory of the rules kept. Most sites take a few
	// hundred bytes, so that these are some ten thousand sites.
	maxRulebook = 16 << 20
)

// A rulebook keeps the rules of the origins visited last. The zero value is
// ready.
type rulebook struct {
	learning turns // by origin, so that each robots.txt is fetched once

	mu    sync.Mutex
	known map[string]*list.Element // by origin; values are *chapter
	order list.List                // the one asked for last in front
	size  int
}

// chapter is what is known of one origin: its rules, or why there are none.
type chapter struct {
	origin string
	rules  robots.Rules
	failed *Error
	until  time.Time
}

// find returns nil where nothing is known, or not any more.
func (b *rulebook) find(origin string) *chapter {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.known[origin]
	if !ok {
		return nil
	}
	c := e.Value.(*chapter)
	if !time.Now().Before(c.until) {
		b.drop(e)
		return nil
	}
	b.order.MoveToFront(e)
	return c
}

// keep makes room by dropping what was not asked for longest.
func (b *rulebook) keep(c chapter, lasts time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if e, ok := b.known[c.origin]; ok {
		b.drop(e)
	}
	if b.known == nil {
		b.known = map[string]*list.Element{}
	}
	c.until = time.Now().Add(lasts)
	b.known[c.origin] = b.order.PushFront(&c)
	b.size += c.size()
	for b.size > maxRulebook {
		b.drop(b.order.Back())
	}
}

// drop forgets a chapter; b.mu is held.
func (b *rulebook) drop(e *list.Element) {
	c := b.order.Remove(e).(*chapter)
	delete(b.known, c.origin)
	b.size -= c.size()
}

func (c *chapter) size() int { return 256 + len(c.origin) + c.rules.Size() }

// obey returns an error where the site's robots.txt keeps us from u. One that
// cannot be had says so too: its error is that of the exchange.
func (v *visit) obey(ctx context.Context, u *url.URL) error {
	rules, err := v.rules(ctx, u)
	if err != nil {
		return err
	}
	path := u.EscapedPath()
	if path == "" {
		path = "/"
	}
	if u.RawQuery != "" {
		path += "?" + u.RawQuery
	}
	if !rules.Allows(path) {
		return &Error{URL: redact(u), Reason: Robots}
	}
	return nil
}

// rules returns the rules of u's origin, and learns them first where need be.
func (v *visit) rules(ctx context.Context, u *url.URL) (robots.Rules, error) {
	book := &v.fetcher.rulebook
	if c := book.find(origin(u)); c != nil {
		return c.recall()
	}
	release, err := book.learning.take(ctx, origin(u))
	if err != nil {
		return robots.Rules{}, asError(ctx, u, err)
	}
	defer release()
	if c := book.find(origin(u)); c != nil { // learned while we waited
		return c.recall()
	}
	left := v.left
	rules, err := v.learn(ctx, u)
	var failed *Error
	hurried := left < v.fetcher.opts.Timeout/2 // sites before this one took the time
	if errors.As(err, &failed) && ctx.Err() == nil && !(hurried && failed.Reason == Timeout) {
		book.keep(chapter{origin: origin(u), failed: failed}, silenceLasts)
	}
	return rules, err
}

// recall returns what the chapter says. Its failure says nothing new of the
// network.
func (c *chapter) recall() (robots.Rules, error) {
	if c.failed == nil {
		return c.rules, nil
	}
	failed := *c.failed
	failed.recalled = true
	return robots.Rules{}, &failed
}

// learn fetches the robots.txt of u's origin, by whatever redirects, and keeps
// the rules for all origins on the way that have no other.
func (v *visit) learn(ctx context.Context, u *url.URL) (robots.Rules, error) {
	book := &v.fetcher.rulebook
	next := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: robotsPath}
	var origins []string
	var rules robots.Rules
	lasts := rulesLast
	for hop := 0; next != nil && hop <= maxRobotsHops; hop++ {
		at := next
		if at.Path == robotsPath {
			if c := book.find(origin(at)); c != nil && c.failed == nil {
				rules = c.rules
				break
			}
			origins = append(origins, origin(at))
		}
		if err := v.fetcher.checkURL(at); err != nil {
			return robots.Rules{}, err
		}
		err := v.exchange(ctx, at, "text/plain", func(_ context.Context, res *http.Response) (err error) {
			if next, err = redirect(res, at); next == nil && err == nil {
				rules, lasts, err = readRules(res)
			}
			return err
		})
		if err != nil {
			return robots.Rules{}, err
		}
	}
	for _, origin := range origins {
		book.keep(chapter{origin: origin, rules: rules}, lasts)
	}
	return rules, nil
}

// readRules takes a robots.txt that is not there for leave to fetch everything,
// and one that is out of order for none to fetch anything (RFC 9309 §2.3.1).
func readRules(res *http.Response) (robots.Rules, time.Duration, error) {
	switch {
	case res.StatusCode >= 500:
		return robots.Nothing(), troubleLasts, nil
	case res.StatusCode < 200 || res.StatusCode > 299:
		return robots.Rules{}, rulesLast, nil
	}
	text, err := io.ReadAll(io.LimitReader(res.Body, robots.MaxBytes))
	if err != nil {
		return robots.Rules{}, 0, err
	}
	return robots.Parse(text, product), rulesLast, nil
}

// origin names whom a robots.txt speaks for: scheme, host and port.
func origin(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// redirect returns where a response sends us on, or nil.
func redirect(res *http.Response, at *url.URL) (*url.URL, error) {
	switch res.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther,
		http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
	default:
		return nil, nil
	}
	location := res.Header.Get("Location")
	if location == "" {
		return nil, nil
	}
	next, err := at.Parse(location)
	if err != nil { // it may repeat secrets of the URL
		return nil, &Error{Reason: BadURL, Err: errors.New("the redirect does not parse")}
	}
	next.Fragment, next.RawFragment = "", ""
	return next, nil
}
