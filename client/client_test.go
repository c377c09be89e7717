package client

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"
)

const testKey = "key-0123456789-secret"

// setup starts a service and returns a client for it.
func setup(t *testing.T, handler http.HandlerFunc, change func(*Options)) *HTTP {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	options := Options{BaseURL: server.URL + "/root/", APIKey: testKey}
	if change != nil {
		change(&options)
	}
	c, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const soundAnswer = `{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`

var testRequest = Request{Kind: Website, Input: "https://example.com/?a=b&c=d", Classification: TaxonomyV3}

func TestRequestOnTheWire(t *testing.T) {
	title := Request{Kind: Product, Input: "Red & blue / shoe 50%", Classification: ProductTaxonomy}
	for _, tt := range []struct {
		name    string
		request Request
		change  func(*Options)
		path    string
		input   string // the parameter's name
		in      ParamIn
	}{
		{"website in the query", testRequest, nil, "/root/api/v1/website/categorization", "url", InQuery},
		{"product in the query", title, nil, "/root/api/v1/product/categorization", "query", InQuery},
		{"other names", title, func(o *Options) { o.ProductParam = "q" }, "/root/api/v1/product/categorization", "q", InQuery},
		{"form", testRequest, func(o *Options) { o.ParamIn, o.WebsiteParam = InForm, "site" }, "/root/api/v1/website/categorization", "site", InForm},
		{"json", title, func(o *Options) { o.ParamIn = InJSON }, "/root/api/v1/product/categorization", "query", InJSON},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got *http.Request
			var body string
			c := setup(t, func(w http.ResponseWriter, r *http.Request) {
				b, _ := io.ReadAll(r.Body)
				got, body = r, string(b)
				fmt.Fprintf(w, `{%q:[]}`, tt.request.Classification)
			}, tt.change)
			if _, err := c.exchange(t.Context(), tt.request); err != nil {
				t.Fatal(err)
			}
			if got.Method != "GET" || got.URL.Path != tt.path || got.Header.Get("x-api-key") != testKey {
				t.Errorf("got %s %s, key %q", got.Method, got.URL.Path, got.Header.Get("x-api-key"))
			}
			checkParams(t, tt.in, got, body, map[string]string{tt.input: tt.request.Input, "classification": tt.request.Classification})
		})
	}
}

func checkParams(t *testing.T, in ParamIn, r *http.Request, body string, want map[string]string) {
	t.Helper()
	switch in {
	case InQuery:
		for name, value := range want {
			if got := r.URL.Query().Get(name); got != value {
				t.Errorf("query %s: got %q, want %q", name, got, value)
			}
		}
	case InForm:
		if body != "site=https%3A%2F%2Fexample.com%2F%3Fa%3Db%26c%3Dd&classification=taxonomy_v3" || r.Header.Get("Content-Type") != "application/x-www-form-urlencoded" {
			t.Errorf("got body %q of type %q", body, r.Header.Get("Content-Type"))
		}
	case InJSON:
		if body != `{"classification":"product_taxonomy","query":"Red \u0026 blue / shoe 50%"}` || r.Header.Get("Content-Type") != "application/json" {
			t.Errorf("got body %q of type %q", body, r.Header.Get("Content-Type"))
		}
	}
}

func TestExchange(t *testing.T) {
	for _, status := range []int{200, 201, 206} {
		c := setup(t, func(w http.ResponseWriter, r *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, soundAnswer)
		}, nil)
		answer, err := c.exchange(t.Context(), testRequest)
		if err != nil || !reflect.DeepEqual(answer.Entries, []Entry{{Value: "A > B", Confidence: 0.5}}) || string(answer.Body) != soundAnswer || answer.Free {
			t.Errorf("%d: got %+v, %v", status, answer, err)
		}
	}
}

func TestErrorClasses(t *testing.T) {
	reply := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name    string
		handler http.HandlerFunc
		class   Class
		text    string
	}{
		{"202", reply(202, soundAnswer), Transient, "HTTP 202"},
		{"400", reply(400, `{"error":{"message":"no such site"}}`), Rejected, "HTTP 400 Bad Request: no such site"},
		{"401", reply(401, ""), Auth, "check the API key"},
		{"402", reply(402, `{"message":"pay"}`), Quota, "HTTP 402 Payment Required: pay: the quota of the API key is used up"},
		{"402 in the words of the service", reply(402, `{"message":"the Quota that all keys share is used up"}`), Quota, "HTTP 402 Payment Required: the Quota that all keys share is used up"},
		{"403", reply(403, ""), Auth, "HTTP 403"},
		{"404", reply(404, ""), Rejected, "HTTP 404"},
		{"405", reply(405, ""), Fatal, "HTTP 405"},
		{"408", reply(408, ""), Transient, "HTTP 408"},
		{"410", reply(410, ""), Rejected, "HTTP 410"},
		{"413", reply(413, ""), Rejected, "HTTP 413"},
		{"414", reply(414, ""), Rejected, "HTTP 414"},
		{"418", reply(418, ""), Rejected, "HTTP 418"},
		{"422", reply(422, ""), Rejected, "HTTP 422"},
		{"425", reply(425, ""), Transient, "HTTP 425"},
		{"429", reply(429, ""), Transient, "HTTP 429"},
		{"500", reply(500, "<html>Oops</html>"), Transient, "Oops"},
		{"503", reply(503, ""), Transient, "HTTP 503"},
		{"509", reply(509, ""), Quota, "HTTP 509"},
		{"HTML with 200", reply(200, "<html>maintenance</html>"), Transient, "not a JSON object"},
		{"echoed key", reply(401, `{"error":"bad key `+testKey+`"}`), Auth, "bad key [secret]"},
		{"truncated", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, `{"taxonomy_v3":[`)
		}, Transient, "unexpected EOF"},
		{"reset", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, Transient, "EOF"},
		{"redirect to another host", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
		}, Fatal, "redirects to http://other.invalid"},
		{"redirect in a circle", func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, r.URL.Path, http.StatusFound)
		}, Fatal, "circle"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c := setup(t, tt.handler, nil)
			_, err := c.exchange(t.Context(), testRequest)
			if ClassOf(err) != tt.class || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("got %v, %v; want %v, %q", ClassOf(err), err, tt.class, tt.text)
			}
			if strings.Contains(err.Error(), testKey) {
				t.Errorf("the error contains the key: %v", err)
			}
		})
	}
}

func TestRetryAfterReachesTheError(t *testing.T) {
	c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "7")
		w.WriteHeader(429)
	}, nil)
	_, err := c.exchange(t.Context(), testRequest)
	var e *Error
	if !errors.As(err, &e) || e.RetryAfter != 7*time.Second {
		t.Errorf("got %+v", err)
	}
}

func TestTimeoutIsTransient(t *testing.T) {
	release := make(chan struct{})
	c := setup(t, func(http.ResponseWriter, *http.Request) { <-release }, func(o *Options) { o.Timeout = 20 * time.Millisecond })
	defer close(release)
	_, err := c.exchange(t.Context(), testRequest)
	if ClassOf(err) != Transient || !strings.Contains(err.Error(), "did not answer within") {
		t.Errorf("got %v", err)
	}
}

func TestCancelIsNoServiceError(t *testing.T) {
	release := make(chan struct{})
	arrived := make(chan struct{})
	c := setup(t, func(http.ResponseWriter, *http.Request) { close(arrived); <-release }, nil)
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	_, err := c.exchange(ctx, testRequest)
	var e *Error
	if !errors.Is(err, context.Canceled) || errors.As(err, &e) {
		t.Errorf("got %v", err)
	}
}

func TestUntrustedCertificateIsFatal(t *testing.T) {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	server.Config.ErrorLog = nil
	c, err := New(Options{BaseURL: server.URL, APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.exchange(t.Context(), testRequest); ClassOf(err) != Fatal {
		t.Errorf("got %v", err)
	}
}

// A proxy that requires a password requires it for the next attempt, too.
func TestProxyWithoutPasswordIsFatal(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	defer proxy.Close()
	at, err := url.Parse(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	transport := newHTTPTransport(Options{}, 1)
	transport.Proxy = http.ProxyURL(at)
	c, err := New(Options{BaseURL: "https://api.example.com", APIKey: testKey, Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.exchange(t.Context(), testRequest); ClassOf(err) != Fatal || !strings.Contains(err.Error(), "HTTPS_PROXY") {
		t.Errorf("got %v", err)
	}
}

func TestRefusedConnectionIsTransient(t *testing.T) {
	server := httptest.NewServer(http.NotFoundHandler())
	address := server.URL
	server.Close()
	c, err := New(Options{BaseURL: address, APIKey: testKey})
	if err != nil {
		t.Fatal(err)
	}
	if _, err = c.exchange(t.Context(), testRequest); ClassOf(err) != Transient || strings.Contains(err.Error(), "example.com") {
		t.Errorf("got %v", err)
	}
}

func TestUsage(t *testing.T) {
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/root/api/usage" || r.Header.Get("x-api-key") != testKey {
			w.WriteHeader(400)
		}
		io.WriteString(w, `{"plan":"pro","remaining":"12"}`)
	}, nil)
	usage, err := c.Usage(t.Context())
	if err != nil || usage != (Usage{Plan: "pro", Remaining: "12"}) {
		t.Errorf("got %v, %v", usage, err)
	}
}

func TestNewRefuses(t *testing.T) {
	for _, o := range []Options{
		{BaseURL: ""},
		{BaseURL: "api.example.com"},
		{BaseURL: "ftp://api.example.com"},
		{BaseURL: "https://user:secret@api.example.com"},
		{BaseURL: "https://api.example.com?key=secret"},
		{BaseURL: "https://api.example.com", ParamIn: "header"},
		{BaseURL: "https://api.example.com", APIKey: "secret\n"},
	} {
		_, err := New(o)
		if err == nil {
			t.Errorf("%+v: no error", o)
		} else if strings.Contains(err.Error(), "secret") {
			t.Errorf("the error contains a secret: %v", err)
		}
	}
}

func TestConnectionsAreReused(t *testing.T) {
	asked := 0
	addresses := make(map[string]bool)
	c := setup(t, func(w http.ResponseWriter, r *http.Request) {
		addresses[r.RemoteAddr] = true
		if asked++; asked%2 == 0 {
			io.WriteString(w, soundAnswer)
			return
		}
		w.WriteHeader(500)
		io.WriteString(w, strings.Repeat("x", 10_000))
	}, nil)
	for range 10 {
		c.exchange(t.Context(), testRequest)
	}
	if len(addresses) != 1 {
		t.Errorf("%d connections for 10 consecutive requests", len(addresses))
	}
}
