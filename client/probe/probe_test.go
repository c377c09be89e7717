package probe

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

const testKey = "key-0123456789-secret"

// foreign is a service with configurable properties that the interface leaves open.
type foreign struct {
	website, product string
	in               client.ParamIn
	strict           bool   // refuses unknown parameters
	status           int    // of an answer; 0 for 200
	badKey           int    // HTTP status of a wrong key; 0 if the service accepts any key
	nested           string // format of the answer around the list; "" for the interface's
	custom           string // member of a custom classification's answer
	header           http.Header
	usage            string // quota before the first request; a word for no limit
	free             bool
	only             client.Kind // the only operation; "" for both
	fail             int         // HTTP status of all responses; 0 for none

	mu       sync.Mutex
	requests int
	charged  int
}

func (f *foreign) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.requests++
	for name, values := range f.header {
		w.Header()[name] = values
	}
	switch {
	case f.fail != 0:
		w.WriteHeader(f.fail)
	case f.badKey != 0 && r.Header.Get("X-Api-Key") != testKey:
		w.WriteHeader(f.badKey)
	case r.URL.Path == "/api/usage":
		f.serveUsage(w)
	default:
		f.categorize(w, r)
	}
}

func (f *foreign) serveUsage(w http.ResponseWriter) {
	remaining := f.usage
	if n, err := strconv.Atoi(remaining); err == nil {
		remaining = strconv.Itoa(n - f.charged)
	}
	if f.usage == "" {
		w.WriteHeader(404)
		return
	}
	fmt.Fprintf(w, `{"plan":"test","remaining":%q}`, remaining)
}

func (f *foreign) categorize(w http.ResponseWriter, r *http.Request) {
	kind, name := client.Website, f.website
	if strings.Contains(r.URL.Path, "product") {
		kind, name = client.Product, f.product
	}
	params := f.params(r)
	if f.only != "" && kind != f.only || params.Get(name) == "" || f.strict && len(params) != 2 {
		w.WriteHeader(422)
		io.WriteString(w, `{"error":"unknown parameters"}`)
		return
	}
	if !f.free {
		f.charged++
	}
	member := params.Get("classification")
	if strings.HasPrefix(member, client.CustomPrefix) && f.custom != "" {
		member = f.custom
	}
	if f.status != 0 {
		w.WriteHeader(f.status)
	}
	fmt.Fprintf(w, cmp.Or(f.nested, `{"id":1,%s}`), fmt.Sprintf(`%q:[{"value":"A > B","confidence":0.5}]`, member))
}

// params returns the parameters in the place that the service reads.
func (f *foreign) params(r *http.Request) url.Values {
	body, _ := io.ReadAll(r.Body)
	media := r.Header.Get("Content-Type")
	values := url.Values{}
	switch {
	case f.in == client.InQuery || f.in == "":
		return r.URL.Query()
	case f.in == client.InForm && media == "application/x-www-form-urlencoded":
		values, _ = url.ParseQuery(string(body))
	case f.in == client.InJSON && media == "application/json":
		var object map[string]string
		_ = json.Unmarshal(body, &object)
		for name, value := range object {
			values.Set(name, value)
		}
	}
	return values
}

func run(t *testing.T, f *foreign, change func(*Options)) (Profile, error) {
	t.Helper()
	server := httptest.NewServer(f)
	t.Cleanup(server.Close)
	options := Options{Service: client.Options{BaseURL: server.URL + "/", APIKey: testKey}}
	if change != nil {
		change(&options)
	}
	var made []int
	options.Observe = func(s Step, _ string) { made = append(made, s.Number) }
	profile, err := Run(t.Context(), options)
	if f.requests > maxRequests {
		t.Errorf("%d requests", f.requests)
	}
	if !slices.IsSorted(made) || len(slices.Compact(made)) != len(made) || len(made) > 0 && made[len(made)-1] > len(Plan(options)) {
		t.Errorf("the requests %v are not those of the plan", made)
	}
	return profile, err
}

func TestRunFindsNamesAndPlace(t *testing.T) {
	for _, in := range []client.ParamIn{client.InQuery, client.InForm, client.InJSON} {
		for _, website := range websiteNames {
			for _, product := range productNames {
				for _, custom := range []string{"", client.CustomPrefix + "acme"} {
					t.Run(strings.Join([]string{string(in), website, product, custom}, " "), func(t *testing.T) {
						f := &foreign{website: website, product: product, in: in, badKey: 401, usage: "100"}
						p, err := run(t, f, func(o *Options) { o.Custom = custom })
						if err != nil || p.WebsiteParam != website || p.ProductParam != product || p.ParamIn != in {
							t.Errorf("got %+v, %v", p, err)
						}
						if p.SuccessStatus != 200 || p.BadKeyStatus != 401 || p.Charges == nil || !*p.Charges || p.CustomMember != custom {
							t.Errorf("got %+v", p)
						}
					})
				}
			}
		}
	}
}

func TestRun(t *testing.T) {
	no, yes := false, true
	custom := client.CustomPrefix + "acme"
	for _, tt := range []struct {
		name     string
		service  *foreign
		change   func(*Options)
		want     Profile // its names, statuses, custom member, rate and charges
		requests int
	}{
		{"as by default", &foreign{website: "url", product: "query", badKey: 403, usage: "9"}, nil,
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 403, Charges: &yes}, 5},
		{"configured names first", &foreign{website: "site", product: "q", in: client.InJSON, badKey: 401, usage: "9", free: true},
			func(o *Options) {
				o.Service.WebsiteParam, o.Service.ProductParam, o.Service.ParamIn = "site", "q", client.InJSON
			},
			Profile{WebsiteParam: "site", ProductParam: "q", ParamIn: client.InJSON, SuccessStatus: 200, BadKeyStatus: 401, Charges: &no}, 5},
		{"another status, any key, no usage", &foreign{website: "url", product: "query", status: 201}, nil,
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 201, BadKeyStatus: 201}, 4},
		{"unlimited", &foreign{website: "url", product: "query", usage: "unlimited", badKey: 404}, nil,
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 404}, 5},
		{"refuses unknown parameters", &foreign{website: "query", product: "title", strict: true, badKey: 401}, nil,
			Profile{WebsiteParam: "query", ProductParam: "title", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 401}, 11},
		{"custom member", &foreign{website: "url", product: "query", custom: "categories"}, func(o *Options) { o.Custom = custom },
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 200, CustomMember: "categories"}, 5},
		{"nested", &foreign{website: "url", product: "query", nested: `{"data":{%s}}`}, nil,
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 200, Member: "data.{classification}"}, 4},
		{"nested custom member", &foreign{website: "url", product: "query", nested: `{"data":{%s}}`, custom: "categories"}, func(o *Options) { o.Custom = custom },
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 200, Member: "data.{classification}", CustomMember: "categories"}, 5},
		{"in an array", &foreign{website: "url", product: "query", nested: `[{%s}]`}, nil,
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 200, Member: "0.{classification}"}, 4},
		{"rate", &foreign{website: "url", product: "query", header: http.Header{"Ratelimit-Policy": {`"d";q=600;w=60`}}}, nil,
			Profile{WebsiteParam: "url", ProductParam: "query", ParamIn: client.InQuery, SuccessStatus: 200, BadKeyStatus: 200, RateLimit: 10, RateHeaders: []string{"RateLimit-Policy"}}, 4},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := run(t, tt.service, tt.change)
			if err != nil {
				t.Fatal(err)
			}
			if tt.service.requests != tt.requests {
				t.Errorf("%d requests, want %d", tt.service.requests, tt.requests)
			}
			tt.want.Format, tt.want.BaseURL, tt.want.ProbedAt, tt.want.Assumed = profileFormat, got.BaseURL, got.ProbedAt, got.Assumed
			checkProfile(t, got, tt.want)
			if strings.HasSuffix(got.BaseURL, "/") {
				t.Errorf("the base URL %s is not normalized", got.BaseURL)
			}
		})
	}
}

func checkProfile(t *testing.T, got, want Profile) {
	t.Helper()
	text, err := got.Encode()
	if err != nil {
		t.Fatal(err)
	}
	expected, err := want.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != string(expected) {
		t.Errorf("got %s\nwant %s", text, expected)
	}
}

func TestRunSaysWhatDoesNotWork(t *testing.T) {
	for _, tt := range []struct {
		name     string
		service  *foreign
		want     []string
		requests int // at most
	}{
		{"unknown names", &foreign{website: "w", product: "p", badKey: 401, usage: "9"}, []string{"website operation", "product operation", "HTTP 422", "unknown parameters"}, 16},
		{"no products", &foreign{website: "domain", only: client.Website, badKey: 401, usage: "9"}, []string{"product operation", "HTTP 422"}, 16},
		{"no websites", &foreign{product: "query", only: client.Product, badKey: 401, usage: "9"}, []string{"website operation"}, 16},
		{"the key is refused", &foreign{fail: 401}, []string{"website operation", "HTTP 401", "check the API key"}, 9},
		{"too many requests", &foreign{fail: 429}, []string{"ended at its request 1", "HTTP 429"}, 1},
		{"no quota", &foreign{fail: 402}, []string{"ended at its request 1", "HTTP 402"}, 1},
		{"redirects to another host", &foreign{fail: 302, header: http.Header{"Location": {"http://other.invalid/" + testKey}}}, []string{"ended", "redirects to http://other.invalid"}, 1},
		{"redirects in a circle", &foreign{fail: 302, header: http.Header{"Location": {"/api/usage"}}}, []string{"ended", "circle"}, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := run(t, tt.service, nil)
			if err == nil {
				t.Fatal("no error")
			}
			for _, text := range tt.want {
				if !strings.Contains(err.Error(), text) {
					t.Errorf("%q is not in: %v", text, err)
				}
			}
			if tt.service.requests > tt.requests {
				t.Errorf("%d requests, want %d at most", tt.service.requests, tt.requests)
			}
			if strings.Contains(err.Error(), testKey) {
				t.Errorf("the error contains the key: %v", err)
			}
		})
	}
}

// The service redirects every request once, which doubles the number of requests.
func TestRunCountsRedirects(t *testing.T) {
	service := &foreign{website: "w", product: "p", usage: "9"}
	requests := 0
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		if path, ok := strings.CutPrefix(r.URL.Path, "/new"); ok {
			r.URL.Path = path
			service.ServeHTTP(w, r)
			return
		}
		http.Redirect(w, r, "/new"+r.URL.RequestURI(), http.StatusTemporaryRedirect)
	}))
	defer server.Close()
	_, err := Run(t.Context(), Options{Service: client.Options{BaseURL: server.URL, APIKey: testKey}})
	if e, ok := errors.AsType[*client.Error](err); !ok || requests != maxRequests || e.Class != client.Fatal || !strings.Contains(err.Error(), "redirects used up") {
		t.Errorf("%d requests, %v", requests, err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	service := &foreign{}
	server := httptest.NewServer(service)
	defer server.Close()
	if _, err := Run(ctx, Options{Service: client.Options{BaseURL: server.URL}}); err == nil || service.requests > 0 {
		t.Errorf("%d requests, %v", service.requests, err)
	}
}

func TestPlanIsBounded(t *testing.T) {
	for _, website := range append(slices.Clone(websiteNames), "other") {
		for _, product := range append(slices.Clone(productNames), "other") {
			for _, in := range []client.ParamIn{client.InQuery, client.InForm, client.InJSON} {
				for _, custom := range []string{"", client.CustomPrefix + "acme"} {
					plan := Plan(Options{Custom: custom, Service: client.Options{WebsiteParam: website, ProductParam: product, ParamIn: in}})
					if len(plan) != maxRequests {
						t.Errorf("%s, %s, %s, %q: %d requests", website, product, in, custom, len(plan))
					}
				}
			}
		}
	}
}
