package page

import (
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

// A ruleCache is a cache of rules by origin in two halves. Rules that are used move to the newer half. When the newer half is full,
// the older half is dropped, and the newer half becomes the older half. The zero value is ready to use.
type ruleCache struct {
	learning keyLocks // by origin: held while a robots.txt is fetched

	mu           sync.Mutex
	newer, older map[string]originRules // by origin
	size         int                    // of newer
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
	c, ok := b.newer[origin]
	if !ok {
		if c, ok = b.older[origin]; ok {
			b.add(c)
		}
	}
	if !ok || !time.Now().Before(c.until) {
		return nil
	}
	return &c
}

// keep adds the rules of an origin.
func (b *ruleCache) keep(c originRules, lasts time.Duration) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c.until = time.Now().Add(lasts)
	b.add(c)
}

// add adds rules to the newer half; the caller holds b.mu.
func (b *ruleCache) add(c originRules) {
	b.size += c.size()
	if b.newer == nil || b.size > maxRuleCache/2 {
		b.newer, b.older, b.size = map[string]originRules{}, b.newer, c.size()
	}
	b.newer[c.origin] = c
}

func (c *originRules) size() int { return 256 + len(c.origin) + c.rules.Size() }

// checkRobots returns an error if the site's robots.txt forbids u, or cannot be fetched.
func (v *visit) checkRobots(ctx context.Context, u *url.URL) error {
	rules, err := v.rules(ctx, u)
	if err != nil {
		return err
	}
	if !rules.Allows(u.RequestURI()) {
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
	hurried := left < Limit/2 // earlier hops took the time
	if failed, ok := errors.AsType[*Error](err); ok && ctx.Err() == nil && !(hurried && failed.Reason == Timeout) {
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
