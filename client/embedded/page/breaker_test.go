package page

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

var (
	errNoName  = &net.DNSError{Err: "no such host", IsNotFound: true}
	errNoRoute = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ENETUNREACH}
	errNoHost  = &net.OpError{Op: "dial", Net: "tcp", Err: syscall.EHOSTUNREACH}
	errNoProxy = &net.OpError{Op: "proxyconnect", Net: "tcp", Err: syscall.ECONNREFUSED}
)

// staged is a network that a test switches between states; err nil is a page.
type staged struct {
	mu    sync.Mutex
	err   error
	tries int
}

func (s *staged) set(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.err = err
}

func (s *staged) RoundTrip(req *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && req.URL.Path == "/robots.txt" {
		return respond(req, 404, ""), nil
	}
	s.tries++
	if s.err != nil {
		return nil, s.err
	}
	return respond(req, 200, "<title>Home</title>", "Content-Type", mediaHTML), nil
}

func (s *staged) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tries
}

func fetcher(s *staged) (*Fetcher, *bytes.Buffer) {
	var log bytes.Buffer
	return New(Options{Transport: s, Logger: slog.New(slog.NewTextHandler(&log, nil))}), &log
}

// sites numbers the sites of fetchN: a site that has failed is not asked again for a while.
var sites atomic.Int64

// fetchN fetches a page each of n sites.
func fetchN(t *testing.T, f *Fetcher, n int) (last error) {
	t.Helper()
	for range n {
		_, last = f.Fetch(t.Context(), fmt.Sprintf("https://site%d.example/", sites.Add(1)))
	}
	return last
}

func TestPauses(t *testing.T) {
	tests := []struct {
		name   string
		err    error
		online bool
		after  int // fetches sent out of 100; 100 is no pause
	}{
		{"names fail", errNoName, false, namesFailing},
		{"names fail but the resolver is well", errNoName, true, 100},
		{"the network is unreachable", errNoRoute, false, namesFailing},
		{"the proxy is absent", errNoProxy, true, namesFailing},
		{"sites are silent", errNoHost, true, sitesSilent},
		{"sites time out", context.DeadlineExceeded, true, sitesSilent},
		{"sites refuse", &net.OpError{Op: "dial", Err: syscall.ECONNREFUSED}, false, 100},
		{"addresses are blocked", &Error{Reason: Blocked}, false, 100},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := &staged{err: tt.err}
			f, log := fetcher(s)
			f.breaker.online = func(context.Context) bool { return tt.online }
			last := fetchN(t, f, 100)
			if got := s.count(); got != tt.after {
				t.Errorf("%d fetches were sent, want %d", got, tt.after)
			}
			paused := tt.after < 100
			if errors.Is(last, ErrPaused) != paused {
				t.Errorf("last error %v, want paused %v", last, paused)
			}
			if got := strings.Count(log.String(), "level=WARN"); paused && got != 1 || !paused && got != 0 {
				t.Errorf("%d warnings:\n%s", got, log)
			}
			if paused && !strings.Contains(log.String(), "option=page.Mode") {
				t.Errorf("the warning does not say what to do:\n%s", log)
			}
		})
	}
}

func TestASignOfLifeStartsTheCountAgain(t *testing.T) {
	s := &staged{}
	f, _ := fetcher(s)
	for range 10 {
		s.set(errNoName)
		fetchN(t, f, namesFailing-1)
		s.set(nil)
		if err := fetchN(t, f, 1); err != nil {
			t.Fatal(err)
		}
	}
}

func TestPauseProbes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &staged{err: errNoName}
		f, log := fetcher(s)
		fetchN(t, f, 10)

		time.Sleep(probeEvery - time.Nanosecond)
		fetchN(t, f, 10)
		if got := s.count(); got != namesFailing {
			t.Fatalf("%d fetches were sent before the first probe, want %d", got, namesFailing)
		}
		time.Sleep(time.Nanosecond)
		fetchN(t, f, 10)
		if got := s.count(); got != namesFailing+1 {
			t.Fatalf("%d fetches were sent with the first probe, want %d", got, namesFailing+1)
		}
		s.set(nil)
		if err := fetchN(t, f, 1); !errors.Is(err, ErrPaused) {
			t.Fatalf("error %v between probes, want ErrPaused", err)
		}
		time.Sleep(probeEvery)
		if err := fetchN(t, f, 10); err != nil {
			t.Fatalf("error %v after a probe succeeded", err)
		}
		if got := strings.Count(log.String(), "\n"); got != 2 { // paused, back
			t.Errorf("%d lines were logged, want 2:\n%s", got, log)
		}
	})
}

// Some networks resolve names and let no other traffic out.
func TestPausesWhereOnlyNamesResolve(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &staged{}
		f, log := fetcher(s)
		f.breaker.online = func(context.Context) bool { return true }
		for i := range 100 {
			s.set(errNoHost)
			if i%3 == 0 { // a dead name among silent sites
				s.set(errNoName)
			}
			fetchN(t, f, 1)
		}
		if got, want := s.count(), sitesSilent*3/2; got != want {
			t.Errorf("%d fetches were sent, want %d", got, want)
		}
		time.Sleep(probeEvery)
		s.set(errNoName)
		fetchN(t, f, 1)
		if err := fetchN(t, f, 1); !errors.Is(err, ErrPaused) {
			t.Errorf("error %v after a dead name for a probe, want ErrPaused", err)
		}
		if got := strings.Count(log.String(), "\n"); got != 1 {
			t.Errorf("%d lines were logged, want the warning alone:\n%s", got, log)
		}
	})
}

func TestPauseUnderConcurrency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const workers = 32
		var sent atomic.Int64
		var log bytes.Buffer
		f := New(Options{Logger: slog.New(slog.NewTextHandler(&log, nil)), Transport: transport(func(*http.Request) (*http.Response, error) {
			sent.Add(1)
			time.Sleep(resolveTimeout) // a resolver that hangs
			return nil, &net.DNSError{Err: "i/o timeout", IsTimeout: true}
		})})
		start := time.Now()
		var done sync.WaitGroup
		for range workers {
			done.Go(func() { fetchN(t, f, 100) })
		}
		done.Wait()
		// The workers that fail first may start another lookup before the pause.
		if took := time.Since(start); took > 2*resolveTimeout {
			t.Errorf("%d fetches took %v, want at most %v", workers*100, took, 2*resolveTimeout)
		}
		if got := sent.Load(); got >= workers+namesFailing {
			t.Errorf("%d fetches were sent by %d workers", got, workers)
		}
		if got := strings.Count(log.String(), "level=WARN"); got != 1 {
			t.Errorf("%d warnings:\n%s", got, log.String())
		}
	})
}

func TestNoPauseWhenTheCallerLeaves(t *testing.T) {
	f, log := fetcher(&staged{err: errNoName})
	fetchN(t, f, namesFailing-1)
	ctx, cancel := context.WithCancel(t.Context())
	f.breaker.online = func(ctx context.Context) bool {
		cancel()
		return ctx.Err() == nil
	}
	f.Fetch(ctx, "https://example.com/")
	if log.Len() > 0 {
		t.Errorf("logged:\n%s", log)
	}
}

func TestModeIsAFlag(t *testing.T) {
	var m Mode
	for _, name := range []string{"auto", "always", "never"} {
		if err := m.Set(name); err != nil || m.String() != name {
			t.Errorf("Set(%q): %v, mode %s", name, err, m)
		}
	}
	if err := m.Set("sometimes"); err == nil || m != Never {
		t.Errorf("Set took a mode that is none: %v", m)
	}
}
