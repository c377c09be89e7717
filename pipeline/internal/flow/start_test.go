package flow

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
)

// transport is a service in memory: the number of the request, from 1, and its classification.
type transport func(n int, classification string) (body string, err error)

// startedRun is a run against a transport.
type startedRun struct {
	*testRun
	requests atomic.Int64
	answers  int64 // that fit, before others
}

func newStartedRun(t *testing.T, inputs int, serve transport) *startedRun {
	s := &startedRun{testRun: newTestRun(numbered(inputs)...)}
	s.useTransport(t, func(r *http.Request) (*http.Response, error) {
		n := int(s.requests.Add(1))
		if err := wait(r.Context(), 20*time.Millisecond); err != nil {
			return nil, err
		}
		body, err := serve(n, r.URL.Query().Get("classification"))
		if err != nil {
			return nil, err
		}
		w := httptest.NewRecorder()
		_, _ = io.WriteString(w, body)
		return w.Result(), nil
	})
	s.store = openStore(t, t.TempDir())
	s.options.SourceName, s.options.Retry = "http://service", client.DefaultRetryPolicy()
	s.limits = limits.Options{Rate: 1000, InFlight: 64, Trial: 3}
	return s
}

// useTransport has the run use a client of the service that a function plays.
func (x *testRun) useTransport(t *testing.T, serve roundTripper) {
	var telling atomic.Bool
	c, err := client.New(client.Options{BaseURL: "http://service", Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
		if telling.Load() {
			return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(`{"remaining":"unlimited"}`))}, nil
		}
		return serve(r)
	})})
	if err != nil {
		t.Fatal(err)
	}
	x.attempter = c
	x.tell = func(ctx context.Context) (client.Usage, error) {
		telling.Store(true)
		defer telling.Store(false)
		return c.Usage(ctx)
	}
}

// addAnswer stores an answer of the service to another input.
func (s *startedRun) addAnswer() {
	request := client.Request{Kind: client.Product, Input: "another", Classification: client.ProductTaxonomy}
	answer, _ := client.ParseAnswer([]byte(fits), client.ProductTaxonomy)
	batch := s.store.NewBatch()
	batch.Add(request, answers.Outcome{Answer: answer})
	_ = batch.Commit()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

const (
	fits   = `{"product_taxonomy":[{"value":"A","confidence":0.5}]}`
	nested = `{"data":{"product_taxonomy":[{"value":"A","confidence":0.5}]}}`
)

// Answers of another shape are paid for: a run gets few of them.
func TestAnswersOfAnotherShape(t *testing.T) {
	one := func(body string) transport { return func(int, string) (string, error) { return body, nil } }
	after := func(n int, serve transport) transport {
		return func(i int, c string) (string, error) {
			if i <= n {
				return fits, nil
			}
			return serve(i, c)
		}
	}
	for _, tt := range []struct {
		name      string
		inputs    int
		serve     transport
		keepGoing bool
		most      int // requests
		rejected  int // records that are stored so
		message   string
	}{
		{"all of many", 1000, one(nested), false, 5, 0, "the answer has a list of entries at data.{classification}: got " + nested},
		{"all of many, and the run keeps going", 1000, one(nested), true, 5, 0, "data.{classification}"},
		{"the only one", 1, one(nested), false, 5, 0, `no member "product_taxonomy"`},
		{"words", 1000, one(`{"error":"unknown client"}`), false, 5, 0, "unknown client"},
		{"one in a hundred", 1000, func(i int, _ string) (string, error) {
			if i%100 == 0 {
				return `{"status":"unknown site"}`, nil
			}
			return fits, nil
		}, false, 1000, 9, ""}, // no answer follows the tenth: see the next case
		{"the last", 100, after(99, one(`{"status":"unknown site"}`)), false, 100, 1, ""},
		{"all after some", 1000, after(200, one(nested)), false, 320, 0, "the answer for"},
		{"all after some, and the run keeps going", 1000, after(200, one(nested)), true, 320, 0, "the answer for"},
		{"words now and then", 200, func(i int, _ string) (string, error) {
			if i%10 == 0 {
				return `{"error":"busy, try again"}`, nil
			}
			return fits, nil
		}, false, 250, 0, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newStartedRun(t, tt.inputs, tt.serve)
				defer x.store.Close()
				x.options.KeepGoing = tt.keepGoing
				err := x.run(t.Context())
				service, ended := errors.AsType[*ServiceError](err)
				if ended != (tt.message != "") || err != nil && !ended || ended && !strings.Contains(service.Error(), tt.message) {
					t.Errorf("ended with %v", err)
				}
				if n := int(x.requests.Load()); n > tt.most {
					t.Errorf("%d requests, at most %d", n, tt.most)
				}
				if _, rejected := x.stored(t, tt.inputs); rejected < tt.rejected || rejected > tt.rejected+1 {
					t.Errorf("%d rejections are stored, want %d", rejected, tt.rejected)
				}
			})
		})
	}
}

// A store has answers of the service. Its shape has changed since, or one input is odd: one more request tells.
func TestShapeAfterAnEarlierRun(t *testing.T) {
	for name, tt := range map[string]struct {
		now   func(input string) string
		wrong bool
		most  int64
	}{
		"changed":  {func(string) string { return nested }, true, 6},
		"one odd":  {func(input string) string { return map[bool]string{true: `{}`, false: fits}[input == "title 2"] }, false, 2},
		"sound":    {func(string) string { return fits }, false, 1},
		"only odd": {func(input string) string { return map[bool]string{true: fits, false: `{}`}[input == "title 1"] }, false, 9},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newStartedRun(t, 1, func(int, string) (string, error) { return fits, nil })
				defer x.store.Close()
				if err := x.run(t.Context()); err != nil {
					t.Fatal(err)
				}
				more := 2
				if name == "only odd" || name == "changed" {
					more = 6
				}
				x.source, x.sink, x.counters = &records{inputs: numbered(more)}, new(rows), new(progress.Counters)
				var requests atomic.Int64
				x.useAnswers(t, func(input string) string { requests.Add(1); return tt.now(input) })
				err := x.run(t.Context())
				if _, wrong := errors.AsType[*ServiceError](err); wrong != tt.wrong || err != nil && !wrong {
					t.Errorf("ended with %v", err)
				}
				if n := requests.Load(); n > tt.most {
					t.Errorf("%d requests, at most %d", n, tt.most)
				}
			})
		})
	}
}

// A service that tells its quota, and has answered every request with a page of HTML, is asked under another address. One
// that has given answers is out.
func TestPagesInPlaceOfAnswers(t *testing.T) {
	const page = "<!DOCTYPE html><style>p{}</style><title>Shop</title><p>Welcome to the portal</p>"
	for _, tt := range []struct {
		name    string
		status  int
		body    string
		change  func(*startedRun)
		most    int64 // requests
		message string
	}{
		{"OK", 200, page, nil, 5, "HTTP 200 OK: a page in place of an answer: Shop Welcome to the portal"},
		{"OK, in XML", 200, "\n<?xml version='1.0'?><error>no such operation</error>", nil, 5, "no such operation"},
		{"not found", 404, page, nil, 5, "HTTP 404 Not Found: Shop Welcome to the portal"},
		{"OK, and the run keeps going", 200, page, func(x *startedRun) { x.options.KeepGoing = true }, 1000, "stopped early: outage"},
		{"OK after an answer", 200, page, func(x *startedRun) { x.answers = 1 }, 1000, "stopped early: outage"},
		{"OK after an earlier run", 200, page, func(x *startedRun) { x.addAnswer() }, 1000, "stopped early: outage"},
		{"not found after an earlier run", 404, page, func(x *startedRun) { x.addAnswer() }, 60, "the service rejects every input ("},
		{"not found in JSON after an earlier run", 404, `{"error":"status 404"}`, func(x *startedRun) { x.addAnswer() }, 60, "the service rejects every input ("},
		{"words after an earlier run", 200, `{"error":"busy"}`, func(x *startedRun) { x.addAnswer() }, 1000, "stopped early: outage"},
		{"not found, another operation", 404, `{"message":"no such page"}`, func(x *startedRun) { x.reached = false }, 60, "the service rejects every input (20 of 20)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newStartedRun(t, 500, nil)
				defer x.store.Close()
				x.reached, x.limits.MaxOutage = true, time.Hour
				if tt.change != nil {
					tt.change(x)
				}
				x.useTransport(t, func(r *http.Request) (*http.Response, error) {
					w := httptest.NewRecorder()
					switch n := x.requests.Add(1); {
					case r.URL.Path == "/api/usage":
						x.requests.Add(-1)
						_, _ = io.WriteString(w, `{"plan":"basic","remaining":"1000"}`)
					case n <= x.answers:
						_, _ = io.WriteString(w, fits)
					default:
						w.WriteHeader(tt.status)
						_, _ = io.WriteString(w, tt.body)
					}
					return w.Result(), wait(r.Context(), 20*time.Millisecond)
				})
				err := x.run(t.Context())
				if err == nil || !strings.Contains(err.Error(), tt.message) || strings.Contains(err.Error(), "<") {
					t.Errorf("ended with %v", err)
				}
				if n := x.requests.Load(); n > tt.most {
					t.Errorf("%d requests, at most %d", n, tt.most)
				}
				if _, rejected := x.stored(t, 500); rejected > 0 {
					t.Errorf("%d rejections are stored", rejected)
				}
			})
		})
	}
}

// useAnswers has the run use a client of a service that answers each input so.
func (s *startedRun) useAnswers(t *testing.T, answer func(input string) string) {
	s.useTransport(t, func(r *http.Request) (*http.Response, error) {
		w := httptest.NewRecorder()
		_, _ = io.WriteString(w, answer(r.URL.Query().Get("query")))
		return w.Result(), nil
	})
}

// In a run of two classifications one may fit and the other not.
func TestShapeOfOneClassification(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newStartedRun(t, 1000, func(_ int, classification string) (string, error) {
			if classification == client.ProductTaxonomy {
				return fits, nil
			}
			return `{"categories":{"mine":[]}}`, nil
		})
		defer x.store.Close()
		x.options.Classifications = append(x.options.Classifications, Classification{Name: client.CustomPrefix + "acme"})
		err := x.run(t.Context())
		if _, ok := errors.AsType[*ServiceError](err); !ok || x.requests.Load() > 200 {
			t.Errorf("%d requests, %v", x.requests.Load(), err)
		}
	})
}

// A service that has never answered, and does not respond, is given up: at an address that is probably wrong after 12 s, else
// after a minute. Others are waited for.
func TestServiceThatNeverAnswers(t *testing.T) {
	refused := func(int, string) (string, error) {
		return "", &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}
	}
	for _, tt := range []struct {
		name   string
		serve  transport
		change func(*startedRun)
		gives  time.Duration // up after so long; 0 if it is waited for
	}{
		{"refused", refused, nil, mostRefused},
		{"no such host", func(int, string) (string, error) {
			return "", &net.DNSError{Err: "no such host", Name: "service", IsNotFound: true}
		}, nil, mostRefused},
		{"no DNS", func(int, string) (string, error) {
			return "", &net.DNSError{Err: "server misbehaving", Name: "service", IsTemporary: true}
		}, nil, mostSilence},
		{"reset", func(int, string) (string, error) { return "", syscall.ECONNRESET }, nil, mostSilence},
		{"no proxy", func(int, string) (string, error) {
			return "", &net.OpError{Op: "proxyconnect", Err: syscall.ECONNREFUSED}
		}, nil, mostRefused},
		{"captive portal", func(int, string) (string, error) { return "<html>Sign in</html>", nil }, nil, mostSilence},
		{"keep going", refused, func(x *startedRun) { x.options.KeepGoing = true }, 0},
		{"told its quota", refused, func(x *startedRun) { x.reached = true }, 0},
		{"answered an earlier run", refused, func(x *startedRun) { x.addAnswer() }, 0},
		{"answered once", func(n int, _ string) (string, error) {
			if n == 1 {
				return fits, nil
			}
			return refused(n, "")
		}, nil, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newStartedRun(t, 500, tt.serve)
				defer x.store.Close()
				x.limits.MaxOutage = time.Hour
				if tt.change != nil {
					tt.change(x)
				}
				start := time.Now()
				err := x.run(t.Context())
				took := time.Since(start)
				unreachable, gives := errors.AsType[*UnreachableError](err)
				if gives != (tt.gives > 0) || gives && (took < tt.gives || took > tt.gives*5/4) || !gives && took < time.Hour {
					t.Errorf("after %v: %v", took, err)
				}
				if gives && !strings.Contains(unreachable.Error(), "http://service has never answered") {
					t.Errorf("got %v", err)
				}
			})
		})
	}
}

// A service that hangs is given up like one that refuses, once attempts have timed out for a minute.
func TestServiceThatHangsFromTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		x := newTestRun(numbered(500)...)
		x.options.SourceName = "http://service"
		x.service.answer = func(ctx context.Context, _ string, _ int) error {
			if err := wait(ctx, 30*time.Second); err != nil {
				return err
			}
			return &client.Error{Class: client.Transient, Err: fmt.Errorf("no answer in time")}
		}
		start := time.Now()
		err := x.run(t.Context())
		if _, ok := errors.AsType[*UnreachableError](err); !ok || time.Since(start) > 3*time.Minute {
			t.Errorf("after %v: %v", time.Since(start), err)
		}
	})
}

// A list may begin with inputs that the service does not know. It is not asked for long if it knows none.
func TestUnknownInputsFirst(t *testing.T) {
	for _, tt := range []struct {
		name     string
		unknown  int // of the requests, from the first
		status   int
		body     string
		reached  bool // the service tells its quota
		wrong    bool // the run ends with a MisconfiguredError
		most     int64
		rejected int // stored
	}{
		{"the body names a site", 60, 404, `{"error":"unknown domain"}`, false, false, 500, 60},
		{"the body names the input", 60, 410, `{"error":"we have no 'TITLE'"}`, false, false, 500, 60},
		{"the body says nothing, usage answers", 60, 404, `{"error":"not found"}`, true, false, 500, 60},
		{"the body is that of a router, usage answers", 60, 404, `404 page not found`, true, false, 560, 0},
		{"the body says nothing", 500, 404, `{"error":"not found"}`, false, true, 60, 0},
		{"the body is that of a router", 500, 404, `{"message":"Cannot GET /api/v1/product/categorization?query=TITLE"}`, false, true, 60, 0},
		{"a page", 500, 404, `<html>unknown domain</html>`, true, true, 60, 0},
		{"another rejection", 500, 422, `{"error":"unknown domain"}`, true, true, 60, 0},
		{"all of a short list", 500, 404, `{"error":"unknown product"}`, false, false, 500, 0},
		{"all of a long list", 3000, 404, `{"error":"unknown product"}`, true, true, 1300, 0},
		{"no content first", 60, 204, ``, false, false, 500, 0},
		{"no content for all", 500, 204, ``, false, false, 500, 0},
		{"empty objects first", 60, 200, `{}`, false, false, 500, 0},
		{"empty objects for all", 500, 200, `{}`, false, true, 170, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				inputs := max(500, tt.unknown)
				x := newStartedRun(t, inputs, nil)
				defer x.store.Close()
				x.reached = tt.reached
				x.useTransport(t, func(r *http.Request) (*http.Response, error) {
					w := httptest.NewRecorder()
					if n := x.requests.Add(1); n <= int64(tt.unknown) {
						w.WriteHeader(tt.status)
						_, _ = io.WriteString(w, strings.ReplaceAll(tt.body, "TITLE", r.URL.Query().Get("query")))
					} else {
						_, _ = io.WriteString(w, fits)
					}
					return w.Result(), wait(r.Context(), 20*time.Millisecond)
				})
				err := x.run(t.Context())
				if _, wrong := errors.AsType[*MisconfiguredError](err); wrong != tt.wrong || err != nil && !wrong {
					t.Errorf("ended with %v", err)
				}
				if n := x.requests.Load(); n > tt.most {
					t.Errorf("%d requests, at most %d", n, tt.most)
				}
				answered, rejected := x.stored(t, inputs)
				if rejected != tt.rejected || err == nil && tt.status/100 == 2 && answered != inputs {
					t.Errorf("%d answers and %d rejections are stored, want %d rejections", answered, rejected, tt.rejected)
				}
			})
		})
	}
}

// A service that has never answered within the timeout is not asked for long. The log and the error name the timeout.
func TestTimeoutBelowLatency(t *testing.T) {
	for _, tt := range []struct {
		name    string
		timeout time.Duration // 0 for the default, which grows
		takes   time.Duration
		known   bool // the service has answered an earlier run
		ends    bool // with a ServiceError
		most    int64
		warns   string
	}{
		{"given", time.Second, 1500 * time.Millisecond, false, true, 40, "timeout=1s"},
		{"given, and in use for long", time.Second, 1500 * time.Millisecond, true, false, 5000, "timeout=1s"},
		{"enough", 2 * time.Second, 1500 * time.Millisecond, false, false, 20, ""},
		{"the default grows", 0, 45 * time.Second, false, false, 60, "timeout=30s next=1m0s"},
		{"the default grows twice", 0, 100 * time.Second, false, false, 120, "timeout=1m0s next=2m0s"},
		{"the default is not enough", 0, time.Hour, false, true, 120, "timeout=1m0s next=2m0s"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				x := newStartedRun(t, 20, nil)
				defer x.store.Close()
				if tt.known {
					x.addAnswer()
				}
				x.limits.MaxOutage = time.Hour
				log := new(bytes.Buffer)
				x.log = slog.New(slog.NewTextHandler(log, nil))
				c, err := client.New(client.Options{BaseURL: "http://service", Timeout: tt.timeout, Transport: roundTripper(func(r *http.Request) (*http.Response, error) {
					if r.URL.Path == "/api/usage" {
						return &http.Response{StatusCode: http.StatusNotFound, Body: http.NoBody}, nil
					}
					x.requests.Add(1)
					if err := wait(r.Context(), tt.takes); err != nil {
						return nil, err
					}
					w := httptest.NewRecorder()
					_, _ = io.WriteString(w, fits)
					return w.Result(), nil
				})})
				if err != nil {
					t.Fatal(err)
				}
				x.attempter = c
				err = x.run(t.Context())
				service, ends := errors.AsType[*ServiceError](err)
				if ends != tt.ends || ends && service.Err.OptionName() != "client.Timeout" || !ends && err != nil && !strings.Contains(err.Error(), "did not answer within") {
					t.Errorf("ended with %v", err)
				}
				if n := x.requests.Load(); n > tt.most {
					t.Errorf("%d requests, at most %d", n, tt.most)
				}
				if !strings.Contains(log.String(), tt.warns) || tt.warns == "" && strings.Contains(log.String(), "timeout") {
					t.Errorf("log:\n%s", log)
				}
			})
		})
	}
}
