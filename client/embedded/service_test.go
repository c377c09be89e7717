package embedded

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// quiet drops the messages about pages that could not be fetched.
var quiet = slog.New(slog.DiscardHandler)

// shared is the service of all tests without options: building engines takes time.
var shared = New(Options{Logger: quiet})

// answer has the parts of a response.
type answer struct {
	status int
	cost   string
	body   string
}

func get(t *testing.T, s *Service, path string, params ...string) answer {
	t.Helper()
	return send(t, s, httptest.NewRequest(http.MethodGet, target(path, params...), nil))
}

func target(path string, params ...string) string {
	query := url.Values{}
	for i := 0; i < len(params); i += 2 {
		query.Set(params[i], params[i+1])
	}
	return "http://embedded" + path + "?" + query.Encode()
}

func send(t *testing.T, s *Service, req *http.Request) answer {
	t.Helper()
	rec := httptest.NewRecorder()
	s.ServeHTTP(rec, req)
	if got := rec.Header().Get("Content-Type"); got != "application/json" {
		t.Errorf("content type %q", got)
	}
	if !json.Valid(rec.Body.Bytes()) {
		t.Errorf("the body is no JSON: %s", rec.Body)
	}
	return answer{rec.Code, rec.Header().Get(CostHeader), rec.Body.String()}
}

// entry is one entry of an answer in any classification.
type entry struct {
	Title      string      `json:"title"`
	Value      string      `json:"value"`
	Confidence json.Number `json:"confidence"`
}

func (a answer) entries(t *testing.T, classification string) []entry {
	t.Helper()
	var members map[string][]entry
	if err := json.Unmarshal([]byte(a.body), &members); err != nil || a.status != http.StatusOK {
		t.Fatalf("status %d, %v: %s", a.status, err, a.body)
	}
	list, ok := members[classification]
	if !ok || len(members) != 1 {
		t.Fatalf("members %v, want %s alone", members, classification)
	}
	return list
}

func TestAnswers(t *testing.T) {
	tests := []struct {
		name, path, param, input, classification string
		most                                     int
		some                                     string // a value of one of the entries holds it
	}{
		{"a website", WebsitePath, "url", "https://www.cheap-hotels.example/", "taxonomy_v3", 10, "Hotel"},
		{"a website by its path", WebsitePath, "url", "HTTPS://x.example/soccer/news.html", "taxonomy_v3", 10, "Soccer"},
		{"a company", WebsitePath, "url", "http://northmoor-dentist.example", "naics", 5, "6212"},
		{"a product", ProductPath, "query", "Men's trail running shoes, size 10", "product_taxonomy", 3, "Shoes"},
		{"a product's URL", ProductPath, "query", "https://shop.example/products/leather-sofa-42.html", "product_taxonomy", 3, "Sofa"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := get(t, shared, tt.path, tt.param, tt.input, "classification", tt.classification)
			if a.cost != CostNone {
				t.Errorf("cost %q, want %q", a.cost, CostNone)
			}
			list := a.entries(t, tt.classification)
			if len(list) > tt.most || !strings.Contains(fmt.Sprint(list), tt.some) {
				t.Errorf("answer %v, want at most %d, and some %q", list, tt.most, tt.some)
			}
			for _, e := range list {
				if c, err := e.Confidence.Float64(); err != nil || c < 0 || c > 1 {
					t.Errorf("confidence %s of %s", e.Confidence, e.Value)
				}
				if _, decimals, _ := strings.Cut(e.Confidence.String(), "."); len(decimals) > 4 {
					t.Errorf("confidence %s has more than four decimals", e.Confidence)
				}
				if isNAICS := tt.classification == "naics"; isNAICS != (e.Title != "") {
					t.Errorf("title %q in %s", e.Title, tt.classification)
				}
				if _, err := strconv.Atoi(e.Value); tt.classification == "naics" && err != nil && !strings.Contains(e.Value, "-") {
					t.Errorf("value %q is no NAICS code", e.Value)
				}
			}
		})
	}
}

func TestAnswersAreNotEscapedForHTML(t *testing.T) {
	a := get(t, shared, ProductPath, "query", "running shoes")
	if !strings.Contains(a.body, " > ") || !strings.Contains(a.body, "&") {
		t.Errorf("the body has no plain > and &: %s", a.body)
	}
}

func TestNothingFits(t *testing.T) {
	a := get(t, shared, ProductPath, "query", "zzxqv")
	if a.status != http.StatusOK || a.body != `{"product_taxonomy":[]}` || a.cost != CostNone {
		t.Errorf("answer %+v, want an empty list", a)
	}
}

func TestProductTaxonomyIsTheDefault(t *testing.T) {
	named := get(t, shared, ProductPath, "query", "garden hose", "classification", "product_taxonomy")
	if unnamed := get(t, shared, ProductPath, "query", "garden hose"); unnamed != named {
		t.Errorf("answer %+v, want %+v", unnamed, named)
	}
}

func TestErrors(t *testing.T) {
	s := New(Options{Grants: []Grant{{Key: "good", Quota: Unlimited}, {Key: "poor", Quota: 0}}, Logger: quiet})
	long := "https://x.example/" + strings.Repeat("a", maxInput)
	website := func(input, classification string) string {
		return target(WebsitePath, "url", input, "classification", classification)
	}
	tests := []struct {
		name   string
		method string
		target string
		key    string
		media  string
		body   string
		status int
		say    string // the message holds it
	}{
		{"no such operation", "GET", "http://embedded/api/v2", "good", "", "", 404, WebsitePath},
		{"a slash too many", "GET", "http://embedded/api/usage/", "good", "", "", 404, UsagePath},
		{"no key", "GET", website("https://x.example", "naics"), "", "", "", 401, "x-api-key"},
		{"an unknown key", "GET", website("https://x.example", "naics"), "goo", "", "", 401, "x-api-key"},
		{"usage with an unknown key", "GET", "http://embedded/api/usage", "goood", "", "", 401, "x-api-key"},
		{"a used-up key", "GET", website("https://x.example", "naics"), "poor", "", "", 402, "quota"},
		{"another method", "DELETE", website("https://x.example", "naics"), "good", "", "", 405, "GET or POST"},
		{"usage by POST", "POST", "http://embedded/api/usage", "good", "", "", 405, "GET or HEAD"},
		{"no input", "GET", target(WebsitePath, "classification", "naics"), "good", "", "", 400, `"url"`},
		{"no product", "GET", target(ProductPath), "good", "", "", 400, `"query"`},
		{"no classification", "GET", target(WebsitePath, "url", "https://x.example"), "good", "", "", 400, `"classification"`},
		{"an unknown classification", "GET", website("https://x.example", "product_taxonomy"), "good", "", "", 404, "taxonomy_v3 and naics"},
		{"a custom classification", "GET", target(ProductPath, "query", "shoe", "classification", "product_taxonomy_custom_ab12"), "good", "", "", 404, "product_taxonomy_custom_ab12"},
		{"a website without a scheme", "GET", website("x.example", "naics"), "good", "", "", 400, "https://"},
		{"a website of another scheme", "GET", website("ftp://x.example", "naics"), "good", "", "", 400, "https://"},
		{"a website without a host", "GET", website("https://?path", "naics"), "good", "", "", 400, "malformed"},
		{"a website that does not parse", "GET", website("https://x y.example:port", "naics"), "good", "", "", 400, "malformed"},
		{"a product URL that does not parse", "GET", target(ProductPath, "query", "http://[::1"), "good", "", "", 400, "malformed"},
		{"a query that is not encoded", "GET", "http://embedded" + ProductPath + "?query=100%", "good", "", "", 400, "URL-encoded"},
		{"a name that is not encoded", "GET", "http://embedded" + ProductPath + "?%zz=1&query=a", "good", "", "", 400, "URL-encoded"},
		{"a long input in the query", "GET", website(long, "naics"), "good", "", "", 414, "65536"},
		{"a long input in a form", "POST", target(WebsitePath), "good", "application/x-www-form-urlencoded", "url=" + long, 413, "65536"},
		{"a long input in JSON", "POST", target(WebsitePath), "good", "application/json", `{"url":"` + long + `"}`, 413, "65536"},
		{"a long body", "POST", target(WebsitePath), "good", "application/json", strings.Repeat(" ", maxBody+1), 413, "65536"},
		{"a form that is not encoded", "POST", target(WebsitePath), "good", "application/x-www-form-urlencoded", "url=%", 400, "URL-encoded"},
		{"JSON that breaks off", "POST", target(WebsitePath), "good", "application/json", `{"url":`, 400, "JSON"},
		{"JSON that is a list", "POST", target(WebsitePath), "good", "application/json", `["url"]`, 400, "JSON"},
		{"JSON with a number", "POST", target(WebsitePath), "good", "application/json", `{"url":7}`, 400, "JSON"},
		{"a body of another type", "POST", target(WebsitePath), "good", "text/plain", `{"url":"https://x.example"}`, 400, `"url"`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, tt.target, strings.NewReader(tt.body))
			if tt.key != "" {
				req.Header.Set("x-api-key", tt.key)
			}
			req.Header.Set("Content-Type", tt.media)
			a := send(t, s, req)
			var body struct {
				Error struct {
					Status  int
					Message string
				}
				Remaining string
			}
			if err := json.Unmarshal([]byte(a.body), &body); err != nil {
				t.Fatal(err)
			}
			if a.status != tt.status || body.Error.Status != tt.status || !strings.Contains(body.Error.Message, tt.say) {
				t.Errorf("status %d, body %s; want %d and %q", a.status, a.body, tt.status, tt.say)
			}
			if a.cost != "" {
				t.Errorf("an error has cost %q", a.cost)
			}
			if used := tt.status == http.StatusPaymentRequired; used != (body.Remaining == "0") {
				t.Errorf("remaining %q in status %d", body.Remaining, a.status)
			}
		})
	}
}

func TestMethodNotAllowedSaysWhatIs(t *testing.T) {
	for path, want := range map[string]string{UsagePath: "GET, HEAD", WebsitePath: "GET, POST", ProductPath: "GET, POST"} {
		rec := httptest.NewRecorder()
		shared.ServeHTTP(rec, httptest.NewRequest(http.MethodPut, path, nil))
		if got := rec.Header().Get("Allow"); got != want {
			t.Errorf("%s: Allow %q, want %q", path, got, want)
		}
	}
}

func TestParameterPlaces(t *testing.T) {
	s := New(Options{WebsiteParam: "site", ProductParam: "q", Logger: quiet})
	want := get(t, s, WebsitePath, "site", "https://hotels.example/?a=1&b=2", "classification", "taxonomy_v3")
	if len(want.entries(t, "taxonomy_v3")) == 0 {
		t.Fatal("the website has no category to tell answers apart by")
	}
	form := url.Values{"site": {"https://hotels.example/?a=1&b=2"}, "classification": {"taxonomy_v3"}}.Encode()
	object := `{"site":"https:\/\/hotels.example/?a=1\u0026b=2","classification":"taxonomy_v3","n":1}`
	tests := []struct{ name, method, query, media, body string }{
		{"a form by POST", "POST", "", "application/x-www-form-urlencoded", form},
		{"a form by GET", "GET", "", "application/x-www-form-urlencoded; charset=utf-8", form},
		{"JSON by POST", "POST", "", "application/json", object},
		{"JSON by GET", "GET", "", "application/json; charset=utf-8", object},
		{"both", "POST", "classification=taxonomy_v3", "application/json", `{"site":"https://hotels.example/?a=1&b=2"}`},
		{"the query before the body", "POST", form, "application/json", `{"site":"https://banks.example"}`},
		{"the first before the second", "GET", form + "&site=https://banks.example", "", ""},
		{"JSON announced and missing", "GET", form, "application/json", ""},
		{"a body of another type", "POST", form, "text/plain", "hello"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			req := httptest.NewRequest(tt.method, WebsitePath+"?"+tt.query, strings.NewReader(tt.body))
			req.Header.Set("Content-Type", tt.media)
			if a := send(t, s, req); a != want {
				t.Errorf("answer %+v, want %+v", a, want)
			}
		})
	}
	if a := get(t, s, ProductPath, "q", "garden hose"); a.status != http.StatusOK {
		t.Errorf("product by q: %+v", a)
	}
}

func TestUsage(t *testing.T) {
	if a := get(t, shared, UsagePath); a.body != `{"plan":"embedded","remaining":"unlimited"}` {
		t.Errorf("usage without keys: %s", a.body)
	}
	s := New(Options{Grants: []Grant{{Key: "k", Quota: 2}}, Logger: quiet, Fetch: page.New(page.Options{Mode: page.Always, Logger: quiet, Transport: web{}})})
	ask := func(path string, params ...string) answer {
		req := httptest.NewRequest(http.MethodGet, target(path, params...), nil)
		req.Header.Set("x-api-key", "k")
		return send(t, s, req)
	}
	steps := []struct {
		name   string
		do     func() answer
		status int
		left   string
	}{
		{"nothing yet", func() answer { return ask(UsagePath) }, 200, "2"},
		{"an error", func() answer { return ask(ProductPath) }, 400, "2"},
		{"a website of the local network", func() answer { return ask(WebsitePath, "url", "http://10.0.0.1/", "classification", "naics") }, 200, "2"},
		{"a product of the local network", func() answer { return ask(ProductPath, "query", "http://shop.internal/sofa") }, 200, "2"},
		{"a website that is out", func() answer { return ask(WebsitePath, "url", "http://out.example/", "classification", "naics") }, 200, "1"},
		{"a list without entries", func() answer { return ask(ProductPath, "query", "zzxqv") }, 200, "0"},
		{"one too many", func() answer { return ask(ProductPath, "query", "sofa") }, 402, "0"},
	}
	for _, step := range steps {
		if a := step.do(); a.status != step.status {
			t.Errorf("%s: %+v, want status %d", step.name, a, step.status)
		}
		if a := ask(UsagePath); a.body != `{"plan":"embedded","remaining":"`+step.left+`"}` {
			t.Errorf("after %s: %s, want %s left", step.name, a.body, step.left)
		}
	}
}

func TestQuotaUnderConcurrency(t *testing.T) {
	const quota, workers, each = 100, 16, 20
	s := New(Options{Grants: []Grant{{Key: "k", Quota: quota}}, Logger: quiet})
	s.WarmUp()
	var answered, refused atomic.Int64
	var done sync.WaitGroup
	for range workers {
		done.Go(func() {
			for range each {
				req := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", "sofa"), nil)
				req.Header.Set("x-api-key", "k")
				rec := httptest.NewRecorder()
				s.ServeHTTP(rec, req)
				switch rec.Code {
				case http.StatusOK:
					answered.Add(1)
				case http.StatusPaymentRequired:
					refused.Add(1)
				}
			}
		})
	}
	done.Wait()
	if answered.Load() != quota || refused.Load() != workers*each-quota {
		t.Errorf("%d answered and %d refused, of %d with a quota of %d", answered.Load(), refused.Load(), workers*each, quota)
	}
}

// web is a network of pages by host.
type web map[string]string

func (w web) RoundTrip(req *http.Request) (*http.Response, error) {
	body, ok := w[req.URL.Host]
	if !ok {
		return nil, errors.New("connection reset")
	}
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    req,
	}, nil
}

func TestPages(t *testing.T) {
	shop, err := os.ReadFile("page/testdata/shop.html")
	if err != nil {
		t.Fatal(err)
	}
	s := New(Options{Logger: quiet, Fetch: page.New(page.Options{Logger: quiet, Transport: web{
		"xyzzy.example":  string(shop),
		"hotels.example": "<script>draw()</script>",
		"sofas.example":  "<title>Garden hose, 25 m</title>",
	}})})
	website := func(t *testing.T, s *Service, host string) answer {
		return get(t, s, WebsitePath, "url", "https://"+host+"/", "classification", "taxonomy_v3")
	}
	t.Run("a website by its page", func(t *testing.T) {
		a := website(t, s, "xyzzy.example")
		if a.cost != CostPage || len(a.entries(t, "taxonomy_v3")) == 0 {
			t.Errorf("answer %+v, want entries from a page", a)
		}
		if b := website(t, shared, "xyzzy.example"); b.body == a.body {
			t.Errorf("the page changed nothing: %s", a.body)
		}
	})
	t.Run("a website that does not answer", func(t *testing.T) {
		a, b := website(t, s, "dentists.example"), website(t, shared, "dentists.example")
		if a != b || a.cost != CostNone || len(a.entries(t, "taxonomy_v3")) == 0 {
			t.Errorf("answer %+v, want that by name alone: %+v", a, b)
		}
	})
	t.Run("a page without text", func(t *testing.T) {
		a, b := website(t, s, "hotels.example"), website(t, shared, "hotels.example")
		if a.cost != CostPage || a.body != b.body {
			t.Errorf("answer %+v, want cost %s and the entries by name alone: %+v", a, CostPage, b)
		}
	})
	t.Run("a product by its page", func(t *testing.T) {
		a := get(t, s, ProductPath, "query", "https://sofas.example/item/4711")
		if list := a.entries(t, "product_taxonomy"); a.cost != CostPage || len(list) == 0 || !strings.Contains(list[0].Value, "Hose") {
			t.Errorf("answer %+v, want hoses from a page", a)
		}
	})
	t.Run("a product by its title", func(t *testing.T) {
		if a := get(t, s, ProductPath, "query", "sofa bed"); a.cost != CostNone {
			t.Errorf("answer %+v, want cost %s", a, CostNone)
		}
	})
}

func TestConfidencesAreTheEngines(t *testing.T) {
	j, err := shared.readWebsite(t.Context(), "https://hotels.example")
	matches := shared.operations[WebsitePath].classifications[0].matches(j.Input)
	if err != nil || len(matches) == 0 {
		t.Fatalf("prediction %+v, %v", matches, err)
	}
	a := get(t, shared, WebsitePath, "url", "https://hotels.example", "classification", "taxonomy_v3")
	want := strconv.FormatFloat(matches[0].Confidence, 'f', -1, 64)
	if got := a.entries(t, "taxonomy_v3")[0].Confidence.String(); got != want {
		t.Errorf("confidence %s, want %s", got, want)
	}
}

func TestSlugTitle(t *testing.T) {
	tests := []struct{ path, want string }{
		{"/", ""},
		{"/leather-sofa-42.html", "leather sofa"},
		{"/shoes/trail/roadrunner-42.html", "roadrunner, trail, shoes"},
		{"/p/4711", ""},
	}
	for _, tt := range tests {
		if got := slugTitle(tt.path); got != tt.want {
			t.Errorf("slugTitle(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func TestPathWords(t *testing.T) {
	tests := []struct{ path, want string }{
		{"", ""},
		{"/", ""},
		{"/index.html", ""},
		{"/shop/trail-shoes-42.html", "trail shoes"},
		{"/en/products/Nike_Air+Max/p/4711", "Nike Air Max"},
		{"/gärten/größe.php", "gärten größe"},
		{"/v1.25-beta-release", "v1 beta release"}, // no extension is that long
		{"/हिन्दी/", "हिन्दी"},
		{"//..//.", ""},
	}
	for _, tt := range tests {
		if got := strings.Join(pathWords(tt.path), " "); got != tt.want {
			t.Errorf("pathWords(%q) = %q, want %q", tt.path, got, tt.want)
		}
	}
}

func FuzzParams(f *testing.F) {
	f.Add("url=https://hotels.example&classification=naics", "", "")
	f.Add("query=sofa", "application/json", `{"classification":"product_taxonomy"}`)
	f.Add("", "application/x-www-form-urlencoded", "query=http%3A%2F%2Fx.example%2Fred-sofa&classification=product_taxonomy")
	f.Add("query=%ff%00&&=&;", "application/json;", "[")
	f.Add("url=http://[::1%25eth0]:1/%2e%2e/&classification=taxonomy_v3", "x", "y")
	f.Fuzz(func(t *testing.T, query, media, body string) {
		for _, path := range []string{WebsitePath, ProductPath} {
			req := httptest.NewRequest(http.MethodPost, path, strings.NewReader(body))
			req.URL.RawQuery = query
			req.Header.Set("Content-Type", media)
			a := send(t, shared, req)
			if answered := a.status == http.StatusOK; answered != (a.cost == CostNone) || answered == strings.HasPrefix(a.body, `{"error":`) {
				t.Errorf("answer %+v", a)
			}
		}
	})
}

// The links of a custom taxonomy are to the default edition of the product taxonomy, also if another edition is chosen.
func TestLinksInOtherEditions(t *testing.T) {
	custom, err := taxonomy.ReadCustom(client.CustomPrefix+"x", "x.csv", strings.NewReader("path,links\nGym,Sporting Goods\nGarage,Vehicles & Parts\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range taxonomy.Editions() {
		s := New(Options{Custom: []*taxonomy.Custom{custom}, Editions: taxonomy.Choice{e}, Logger: quiet})
		c, err := s.operations[ProductPath].classification(custom.Name)
		if err != nil {
			t.Fatal(err)
		}
		for i, category := range custom.Categories {
			if links := c.engine().Links(i); len(links) != 1 || c.engine().Base().Categories[links[0].Category].Path != category.Links[0] {
				t.Errorf("%s %s: %s has the links %v, want %s", e.Name, e.Version, category.Path, links, category.Links[0])
			}
		}
	}
}
