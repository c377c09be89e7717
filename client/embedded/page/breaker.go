package page

import (
	"context"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"

	"github.com/bulkcat/bulkcat/client/internal/socket"
)

const (
	// namesFailing is the number of consecutive failed lookups after which the machine may have no network. Dead sites fail in
	// the same way, so fetching pauses only if a lookup of the root name servers fails, too.
	namesFailing = 3

	// sitesSilent is the number of consecutive sites that resolve and do not respond after which fetching pauses: the network
	// may drop packets. It is high because nothing checks the network.
	sitesSilent = 30

	// probeEvery is the interval between probes in a pause.
	probeEvery = 5 * time.Minute
)

// A breaker is a circuit breaker: it pauses fetching on a machine without Internet.
type breaker struct {
	online func(context.Context) bool // reports whether the root name servers resolve
	logger *slog.Logger

	mu     sync.Mutex
	names  int // failed lookups since the last response
	silent int // silent sites since the last response
	paused bool
	probe  time.Time // the time of the next probe in a pause
}

// enter returns ErrPaused in a pause, except for one probe in every probeEvery.
func (b *breaker) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.paused {
		return nil
	}
	now := time.Now()
	if now.Before(b.probe) {
		return ErrPaused
	}
	b.probe = now.Add(probeEvery)
	return nil
}

// leave records the end of a fetch. err is nil for a page. It may look up the root name servers, within ctx.
func (b *breaker) leave(ctx context.Context, err *Error) {
	switch verdictOf(err) {
	case alive:
		b.resume()
	case nameless:
		// A canceled check says nothing.
		if b.count(&b.names, namesFailing) && !b.checkOnline(ctx) && ctx.Err() == nil {
			b.pause(err)
		}
	case proxyless:
		if b.count(&b.names, namesFailing) {
			b.pause(err)
		}
	case silent:
		if b.count(&b.silent, sitesSilent) {
			b.pause(err)
		}
	}
}

// count adds a failure and reports whether the count has reached the limit.
func (b *breaker) count(failures *int, limit int) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	*failures++
	return *failures >= limit
}

// checkOnline looks up a name that always exists.
func (b *breaker) checkOnline(ctx context.Context) bool {
	if !b.online(ctx) {
		return false
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names = 0
	// Some networks resolve names, and let out no other traffic.
	if b.silent < sitesSilent {
		b.reset()
	}
	return true
}

func (b *breaker) pause(cause *Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.paused {
		return
	}
	b.paused, b.probe = true, time.Now().Add(probeEvery)
	b.logger.Warn("no Internet: websites are classified by their names alone until a page can be read again",
		"option", "page.Mode", "cause", cause, "next_try", probeEvery)
}

func (b *breaker) resume() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.names, b.silent = 0, 0
	b.reset()
}

// reset ends a pause; the caller holds b.mu.
func (b *breaker) reset() {
	if b.paused {
		b.paused = false
		b.logger.Info("the Internet is back: pages are fetched again")
	}
}

// A verdict is what the end of a fetch says about the machine's network.
type verdict int

const (
	none      verdict = iota // nothing: the fault is in the URL, the caller or the local network
	alive                    // a server on the Internet has responded
	nameless                 // the name did not resolve, or this machine has no route
	proxyless                // the proxy did not respond
	silent                   // the site did not respond
)

func verdictOf(err *Error) verdict {
	switch {
	case err == nil:
		return alive
	case err.recalled:
		return none
	}
	switch err.Reason {
	case Status, NotHTML, Redirects, TLS, Robots, Parked, ErrorPage, Challenge:
		return alive
	case DNS:
		return nameless
	case Proxy:
		if is[*net.OpError](err) {
			return proxyless
		}
		return alive // a refusal is a response
	case Unreachable:
		if socket.Is(err, syscall.ENETUNREACH) { // this machine has no route at all
			return nameless
		}
		return silent
	case Timeout:
		return silent
	}
	return none
}

// rootAnswers reports whether the machine's resolver knows the root name servers.
func rootAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	servers, err := net.DefaultResolver.LookupNS(ctx, ".")
	return err == nil && len(servers) > 0
}
