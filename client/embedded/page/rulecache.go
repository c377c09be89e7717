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

	"github.com/bulkcat/bulkcat/client/embedded/page/internal/robots"
	"github.com/bulkcat/bulkcat/client/internal/reply"
)

const (
	// product is the program's product token in robots.txt.
	product = "bulkcat"

	robotsPath = "/robots.txt"

	// maxRobotsHops is the most redirects of a robots.txt that are followed (RFC 9309
	// §2.3.1.2).
	maxRobotsHops = 5

	// rulesLast is the time that rules are kept (RFC 9309 §2.4), and troubleLasts the time after a server error for robots.txt.
	rulesLast    = 24 * time.Hour
	troubleLasts = 10 * time.Minute

	// silenceLasts is the time that the error of an unreachable site is kept: fetches that wait for the site fail, too.
	silenceLasts = 30 * time.Second

	// maxRuleCache is the most bytes of rules that are kept: about ten thousand sites of a few hundred bytes.
	maxRuleCache = 16 << 20
)

// A ruleCache is a cache of rules by origin, least recently used first out. The zero value is
// ready to use.
type ruleCache struct {
	learning keyLocks // by origin: held while a robots.txt is fetched

	mu    sync.Mutex
	known map[string]*list.Element // by origin; values are *originRules
	order list.List                // the most recently used first
	size  int
}

// originRules has the rules of one origin, or the error of fetching them.
type originRules struct {
	origin string
	rules  robots.Rules
	failed *Error
	until  time.Time
}

// find returns nil if the rules are unknown or out of date.
func (b *ruleCache) find(origin string) *originRules {
	b.mu.Lock()
	defer b.mu.Unlock()
	e, ok := b.known[origin]
	if !ok {
		return nil
	}
	c := e.Value.(*originRules)
	if !time.Now().Before(c.until) {
		b.drop(e)
		return nil
	}
	b.order.MoveToFront(e)
	return c
}

// keep adds the rules of an origin, and drops the least recently used rules to make room.
func (b *ruleCache) keep(c originRules, lasts time.Duration) {
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
	for b.size > maxRuleCache {
		b.drop(b.order.Back())
	}
}

// drop removes the rules of an origin; the caller holds b.mu.
func (b *ruleCache) drop(e *list.Element) {
	c := b.order.Remove(e).(*originRules)
	delete(b.known, c.origin)
	b.size -= c.size()
}

func (c *originRules) size() int { return 256 + len(c.origin) + c.rules.Size() }

// checkRobots returns an error if the site's robots.txt forbids u, or cannot be fetched.
func (v *visit) checkRobots(ctx context.Context, u *url.URL) error {
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

// rules returns the rules of u's origin, and fetches them if they are unknown.
func (v *visit) rules(ctx context.Context, u *url.URL) (robots.Rules, error) {
	cache := &v.fetcher.ruleCache
	if c := cache.find(origin(u)); c != nil {
		return c.recall()
	}
	unlock, err := cache.learning.lock(ctx, origin(u))
	if err != nil {
		return robots.Rules{}, asError(ctx, u, err)
	}
	defer unlock()
	if c := cache.find(origin(u)); c != nil { // another fetch has learned the rules
		return c.recall()
	}
	left := v.left
	rules, err := v.learn(ctx, u)
	var failed *Error
	hurried := left < Limit/2 // earlier hops took the time
	if errors.As(err, &failed) && ctx.Err() == nil && !(hurried && failed.Reason == Timeout) {
		cache.keep(originRules{origin: origin(u), failed: failed}, silenceLasts)
	}
	return rules, err
}

// recall returns the rules, or the error, marked as recalled: it says nothing new about the network.
func (c *originRules) recall() (robots.Rules, error) {
	if c.failed == nil {
		return c.rules, nil
	}
	failed := *c.failed
	failed.recalled = true
	return robots.Rules{}, &failed
}

// learn fetches the robots.txt of u's origin, following redirects. It keeps the rules for each origin on the way that has none
// yet.
func (v *visit) learn(ctx context.Context, u *url.URL) (robots.Rules, error) {
	cache := &v.fetcher.ruleCache
	next := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: robotsPath}
	var origins []string
	var rules robots.Rules
	lasts := rulesLast
	for hop := 0; next != nil && hop <= maxRobotsHops; hop++ {
		at := next
		if at.Path == robotsPath {
			if c := cache.find(origin(at)); c != nil && c.failed == nil {
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
		cache.keep(originRules{origin: origin, rules: rules}, lasts)
	}
	return rules, nil
}

// readRules reads a response to robots.txt. A missing file allows everything, and a server error
// allows nothing (RFC 9309 §2.3.1).
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

// origin returns the scheme, host and port, to which a robots.txt applies.
func origin(u *url.URL) string {
	return u.Scheme + "://" + strings.ToLower(u.Host)
}

// redirect returns the URL that a response redirects to, or nil.
func redirect(res *http.Response, at *url.URL) (*url.URL, error) {
	location := res.Header.Get("Location")
	if location == "" || !reply.IsRedirect(res.StatusCode) {
		return nil, nil
	}
	next, err := at.Parse(location)
	if err != nil { // err may repeat secrets of the URL
		return nil, &Error{Reason: BadURL, Err: errors.New("the redirect does not parse")}
	}
	next.Fragment, next.RawFragment = "", ""
	return next, nil
}
