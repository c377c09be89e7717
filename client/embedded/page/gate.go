package page

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// namesFailing is how many lookups in a row must fail to suspect the
	// machine rather than the sites. A list of dead sites gets there too, so
	// the suspicion is checked before fetching pauses.
	namesFailing = 3

	// sitesSilent is how many sites in a row must give no sign of life although
	// their names resolve: a network that drops what leaves it. There is
	// nothing to check this with, so it takes more of them.
	sitesSilent = 30

	// probeEvery is how often one fetch is let through a pause.
	probeEvery = 5 * time.Minute
)

// A gate keeps a machine without Internet from waiting for every record.
type gate struct {
	online func(context.Context) bool // checks the suspicion that names raise
	logger *slog.Logger

	mu     sync.Mutex
	names  int // lookups failed since the last sign of life
	silent int // sites silent since the last sign of life
	paused bool
	probe  time.Time // when the next fetch may try, while paused
}

// enter returns ErrPaused while paused, but lets one fetch in each probeEvery.
func (g *gate) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.paused {
		return nil
	}
	now := time.Now()
	if now.Before(g.probe) {
		return ErrPaused
	}
	g.probe = now.Add(probeEvery)
	return nil
}

// leave takes note of how a fetch ended; err is nil for a page. It may look up
// a name, so ctx bounds it.
func (g *gate) leave(ctx context.Context, err *Error) {
	switch signOf(err) {
	case alive:
		g.resume()
	case nameless:
		// A check cut short by the caller says nothing.
		if g.count(&g.names, namesFailing) && !g.checkOnline(ctx) && ctx.Err() == nil {
			g.pause(err)
		}
	case proxyless:
		if g.count(&g.names, namesFailing) {
			g.pause(err)
		}
	case silent:
		if g.count(&g.silent, sitesSilent) {
			g.pause(err)
		}
	}
}

// count adds one failure and tells whether that makes limit of them.
func (g *gate) count(failures *int, limit int) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	*failures++
	return *failures >= limit
}

// checkOnline asks for a name that exists whatever the list holds.
func (g *gate) checkOnline(ctx context.Context) bool {
	if !g.online(ctx) {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names = 0
	// Names resolve on networks that let nothing else out.
	if g.silent < sitesSilent {
		g.open()
	}
	return true
}

func (g *gate) pause(cause *Error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.paused {
		return
	}
	g.paused, g.probe = true, time.Now().Add(probeEvery)
	g.logger.Warn("no Internet: pages are not fetched, websites are judged by their names; "+
		"use --fetch always to insist, --fetch never to expect it",
		"cause", cause, "next_try", probeEvery)
}

func (g *gate) resume() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.names, g.silent = 0, 0
	g.open()
}

// open ends a pause; g.mu is held.
func (g *gate) open() {
	if g.paused {
		g.paused = false
		g.logger.Info("the Internet is back: pages are fetched again")
	}
}

// A sign is what the end of one fetch says about the machine's network.
type sign int

const (
	none      sign = iota // nothing: the URL, the caller or the local network
	alive                 // somebody out there spoke
	nameless              // the name did not resolve, or no route led anywhere
	proxyless             // the proxy was not there
	silent                // the site gave no sign of life
)

func signOf(err *Error) sign {
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
		var op *net.OpError
		if errors.As(err, &op) {
			return proxyless
		}
		return alive // it answered, if only to refuse
	case Unreachable:
		if errors.Is(err, syscall.ENETUNREACH) { // this machine has no route at all
			return nameless
		}
		return silent
	case Timeout:
		return silent
	}
	return none
}

// rootAnswers asks the machine's resolver for the name servers of the root,
// which exist wherever there is an Internet.
func rootAnswers(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, resolveTimeout)
	defer cancel()
	servers, err := net.DefaultResolver.LookupNS(ctx, ".")
	return err == nil && len(servers) > 0
}
