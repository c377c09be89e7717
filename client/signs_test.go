package client

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// What is known of the key and the quota decides what a refusal means.
func TestDiagnoserHasHeard(t *testing.T) {
	refused := func(status int) func(*diagnoser) {
		return func(d *diagnoser) {
			d.usage = usageFails(&Error{Class: classOf(status), Status: status})
		}
	}
	for _, tt := range []struct {
		name   string
		status int
		detail string
		know   func(*diagnoser)
		want   Class
	}{
		{"stored answers prove the key", 403, "", func(d *diagnoser) { refused(403)(d); d.standing.Recall(testRequest, Answer{}) }, Transient},
		{"nothing proves the key", 403, "", refused(403), Auth},
		{"a limit on all paths", 429, "You have exhausted your API Request Quota", func(d *diagnoser) {
			refused(429)(d)
			d.standing.told.Store(&told{usage: Usage{Remaining: "123456"}})
		}, Transient},
		{"a limit on all paths, no bound", 429, "You have exhausted your API Request Quota", func(d *diagnoser) {
			refused(429)(d)
			d.standing.told.Store(&told{usage: Usage{Remaining: "unlimited"}})
		}, Transient},
		{"a quota that was never told", 429, "You have exhausted your API Request Quota", refused(429), Quota},
		{"a 403 for long, and only usage answers", 403, "", func(d *diagnoser) {
			d.usage = usageSays("7")
			long := time.Now().Add(-2 * mostDenied)
			d.deny.Store(&long)
		}, Auth},
	} {
		d := newDiagnoser(&fails{err: &Error{Class: classOf(tt.status), Status: tt.status, Detail: tt.detail}}, nil)
		tt.know(d)
		if _, err := d.attempt(t.Context(), testRequest); ClassOf(err) != tt.want {
			t.Errorf("%s: got %v, want %v", tt.name, ClassOf(err), tt.want)
		}
	}
}

func usageFails(err error) func(context.Context) (Usage, error) {
	return func(context.Context) (Usage, error) { return Usage{}, err }
}

func usageSays(text string) func(context.Context) (Usage, error) {
	return func(context.Context) (Usage, error) { return Usage{Remaining: text}, nil }
}

// Any status for a wrong request may be that of a limiter, which says so by a wait or in words.
func TestLimitsOfAnyStatus(t *testing.T) {
	for _, status := range []int{200, 400, 402, 404, 409, 418, 420, 422, 423, 451, 500} {
		for _, tt := range []struct {
			name, wait, body string
			input            string
			limits           bool
		}{
			{"a wait", "1", "", "hose", true},
			{"a date", "Thu, 01 Jan 2099 00:00:00 GMT", "", "hose", true},
			{"words", "", `{"error":"Too many requests"}`, "hose", true},
			{"other words", "", `{"error":"request was throttled"}`, "hose", true},
			{"a page that asks for a human", "", `<html><title>Are you a robot?</title><div class="g-recaptcha"></div></html>`, "hose", true},
			{"another such page", "", `<html><body>Please verify that you are human</body></html>`, "hose", true},
			{"a page about traffic", "", `<html><body>We have detected unusual traffic from your network</body></html>`, "hose", true},
			{"a website with a captcha", "", `{"error":"the website asks for a captcha"}`, "hose", false},
			{"nothing", "", `{"error":"no such product"}`, "hose", false},
			{"words of the input", "", `{"error":"no such product: THROTTLE cable, 90 strokes per minute"}`, "Throttle cable, 90 strokes per minute", false},
			{"words beside those of the input", "", `{"error":"no answer for Throttle cable: too many requests"}`, "Throttle cable", true},
		} {
			if status == http.StatusOK && !strings.HasPrefix(tt.body, "<") {
				continue // an answer
			}
			t.Run(fmt.Sprint(status, "/", tt.name), func(t *testing.T) {
				server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
					if tt.wait != "" {
						w.Header().Set("Retry-After", tt.wait)
					}
					w.WriteHeader(status)
					io.WriteString(w, tt.body)
				}))
				defer server.Close()
				c, err := New(Options{BaseURL: server.URL})
				if err != nil {
					t.Fatal(err)
				}
				defer c.Close()
				request := testRequest
				request.Input = tt.input
				_, err = c.exchange(t.Context(), request)
				e, ok := errors.AsType[*Error](err)
				if !ok {
					t.Fatal(err)
				}
				want := tt.limits && status != http.StatusPaymentRequired // a used-up quota
				if e.Refused() != want {
					t.Errorf("%v counts as refused: %t, want %t", e, e.Refused(), want)
				}
			})
		}
	}
}

// The quota is used up if a response says so, with any status and in any member, unless the usage operation knows better.
func TestQuotaInWords(t *testing.T) {
	for _, tt := range []struct {
		body   string
		status []int  // default: several
		wait   string // Retry-After
		input  string
		spent  bool
	}{
		{body: `{"error":"Limit reached"}`, spent: true},
		{body: `Limit reached`, spent: true},
		{body: `{"taxonomy_v3":[],"status":{"text":"Your limit has been reached."}}`, spent: true},
		{body: `{"error":{"code":403,"errors":[{"domain":"usageLimits","reason":"dailyLimitExceeded"}],"message":"Sorry"}}`, spent: true},
		{body: `{"error":{"code":429,"message":"Resource has been exhausted (e.g. check quota).","status":"RESOURCE_EXHAUSTED"}}`, spent: true},
		{body: `{"status":"error","reason":"RESOURCE_EXHAUSTED"}`, spent: true},
		{body: `{"taxonomy_v3":null,"info":"no more answers: limit for today"}`, spent: true},
		{body: `{"msg":"You have reached your limit for today"}`, spent: true},
		{body: `{"msg":"You have used up your monthly quota."}`, spent: true},
		{body: `{"code":"monthly_limit_exceeded"}`, spent: true},
		{body: `[{"error":"1000 requests per day exceeded"}]`, spent: true},
		{body: `{"error":"no taxonomy","limit_reached":true}`, spent: true},
		{body: `{"error":"insufficient_credits"}`, spent: true},
		{body: `<html><body><h1>Daily limit exceeded</h1></body></html>`, spent: true},
		{body: `{"error":"request limit exceeded"}`, status: []int{200}, spent: true},
		{body: `{"error":"limit reached"}`, status: []int{429}, wait: "7200", spent: true},

		{body: `{"error":"limit reached"}`, status: []int{429}, wait: "30"},
		{body: `{"error":"request limit exceeded"}`, status: []int{429, 500}},
		{body: `{"error":"RESOURCE_EXHAUSTED","message":"queries per minute"}`},
		{body: `{"error":"rate limit reached"}`},
		{body: `{"error":"concurrent request limit reached"}`},
		{body: `{"error":"title length limit reached"}`},
		{body: `{"error":"crawl depth limit reached"}`},
		{body: `{"error":"busy","limit_reached":false}`},
		{body: `{"error":"not found","docs":"https://example.com/daily-limit-exceeded"}`},
		{body: `{"error":"not found","plan":"daily limit 1000; however, this is architecture"}`},
		{body: `{"error":"no category for Daily limit reached: a diary"}`, input: "Daily Limit Reached"},
		{body: `{"error":"daily-limit-reached.com is not known"}`, input: "http://daily-limit-reached.com/"},
		{body: `{"error":"unknown"}`},
		{body: ``, status: []int{404, 500}},
	} {
		for _, status := range tt.status {
			testQuotaInWords(t, status, tt.body, tt.wait, tt.input, tt.spent)
		}
		for _, status := range []int{200, 400, 403, 404, 429, 500, 503} {
			if tt.status == nil {
				testQuotaInWords(t, status, tt.body, tt.wait, tt.input, tt.spent)
			}
		}
	}
}

func testQuotaInWords(t *testing.T, status int, body, wait, input string, spent bool) {
	t.Run(fmt.Sprint(status, " ", body), func(t *testing.T) {
		usage := `no usage operation`
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/api/usage" {
				if usage[0] != '{' {
					w.WriteHeader(http.StatusNotFound)
				}
				_, _ = io.WriteString(w, usage)
				return
			}
			if wait != "" {
				w.Header().Set("Retry-After", wait)
			}
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}))
		defer server.Close()
		for _, reply := range []struct {
			usage string
			quota bool
		}{{usage, spent}, {`{"remaining":"0"}`, spent}, {`{"remaining":"500"}`, false}} {
			c, err := New(Options{BaseURL: server.URL})
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			usage = reply.usage
			request := testRequest
			request.Input = cmp.Or(input, request.Input)
			_, err = c.Attempt(t.Context(), request)
			if quota := ClassOf(err) == Quota; quota != reply.quota && (spent || !ambiguous(status) || reply.quota) {
				t.Errorf("usage %s: got %v, want the quota %t", reply.usage, err, reply.quota)
			}
			if e, ok := errors.AsType[*Error](err); spent && ok && e.Class != Quota && !e.Refused() && e.Class != Auth {
				t.Errorf("usage %s: %v is no refusal", reply.usage, err)
			}
		}
	})
}

// Another server than the service may have rejected the request.
func TestAstray(t *testing.T) {
	for _, tt := range []struct {
		name, body string
		status     int
		want       bool
		input      string // "" for any
	}{
		{"a page", "<html><title>404 Not Found</title></html>", 404, true, ""},
		{"a page with another status", "<!DOCTYPE html><h1>Bad Request</h1>", 400, true, ""},
		{"Go", "404 page not found", 404, true, ""},
		{"Express", "Cannot GET /v1/product/categorization", 404, true, ""},
		{"Kong", `{"message":"no Route matched with those values"}`, 404, true, ""},
		{"an ingress of Kubernetes", "default backend - 404", 404, true, ""},
		{"Heroku", "No such app", 404, true, ""},
		{"the service", `{"error":"no such site"}`, 404, false, ""},
		{"words of the input", `{"error":"red page holder is unknown"}`, 404, false, "Red page holder"},
		{"nothing is said", "", 404, false, ""},
		{"another status", `{"error":"the path is too long"}`, 400, false, ""},
		{"a limit", "<html>too many requests</html>", 400, false, ""},
		{"a page of an outage", "<html>Bad Gateway</html>", 502, false, ""},
		{"a page that forbids", "<html>Forbidden</html>", 403, false, ""},
	} {
		c := setup(t, func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(tt.status)
			io.WriteString(w, tt.body)
		}, nil)
		_, err := c.exchange(t.Context(), Request{Kind: Product, Classification: ProductTaxonomy, Input: cmp.Or(tt.input, "red shoe")})
		if e, ok := errors.AsType[*Error](err); !ok || e.Astray() != tt.want {
			t.Errorf("%s: got %v, want %t", tt.name, err, tt.want)
		}
	}
}
