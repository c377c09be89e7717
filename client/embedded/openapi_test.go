package embedded

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// apiSchema has the members of JSON Schema that the description uses.
type apiSchema struct {
	Ref               string                `json:"$ref"`
	Type              string                `json:"type"`
	Required          []string              `json:"required"`
	Properties        map[string]*apiSchema `json:"properties"`
	PatternProperties map[string]*apiSchema `json:"patternProperties"`
	Items             *apiSchema            `json:"items"`
	Pattern           string                `json:"pattern"`
	Const             *string               `json:"const"`
	MinProperties     int                   `json:"minProperties"`
}

type apiResponse struct {
	Ref     string                     `json:"$ref"`
	Headers map[string]json.RawMessage `json:"headers"`
	Content map[string]struct{ Schema *apiSchema }
}

// apiDescription has the parts of openapi.json that the tests use.
type apiDescription struct {
	OpenAPI string
	Paths   map[string]map[string]struct {
		Parameters  []struct{ Name, In string }
		RequestBody *struct {
			Content map[string]struct{ Schema *apiSchema }
		}
		Responses map[string]apiResponse
	}
	Components struct {
		Schemas   map[string]*apiSchema
		Responses map[string]apiResponse
	}
}

func describe(t *testing.T, f *front) apiDescription {
	t.Helper()
	var d apiDescription
	text := askAlice(f, "GET", OpenAPIPath).Body.Bytes()
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	for _, ref := range regexp.MustCompile(`"\$ref": "#/components/(\w+)/(\w+)"`).FindAllStringSubmatch(string(text), -1) {
		var whole struct {
			Components map[string]map[string]json.RawMessage
		}
		if err := json.Unmarshal(text, &whole); err != nil || whole.Components[ref[1]][ref[2]] == nil {
			t.Errorf("%s leads nowhere", ref[0])
		}
	}
	return d
}

// check returns the first difference of a value from its schema, "" if there is none.
func (d apiDescription) check(s *apiSchema, value any, at string) string {
	if s.Ref != "" {
		s = d.Components.Schemas[strings.TrimPrefix(s.Ref, "#/components/schemas/")]
	}
	switch value := value.(type) {
	case map[string]any:
		return d.checkObject(s, value, at)
	case []any:
		if s.Type != "array" || s.Items == nil {
			return at + " is a list"
		}
		for i, item := range value {
			if wrong := d.check(s.Items, item, fmt.Sprintf("%s[%d]", at, i)); wrong != "" {
				return wrong
			}
		}
	case string:
		if s.Type != "string" || !regexp.MustCompile(s.Pattern).MatchString(value) || s.Const != nil && *s.Const != value {
			return at + " is " + value
		}
	case float64:
		if s.Type != "number" && s.Type != "integer" {
			return at + " is a number"
		}
	default:
		return fmt.Sprintf("%s is %v", at, value)
	}
	return ""
}

func (d apiDescription) checkObject(s *apiSchema, object map[string]any, at string) string {
	if s.Type != "object" || len(object) < s.MinProperties {
		return fmt.Sprintf("%s is %v", at, object)
	}
	for _, name := range s.Required {
		if _, ok := object[name]; !ok {
			return at + " has no " + name
		}
	}
	for name, value := range object {
		member := s.Properties[name]
		for pattern, other := range s.PatternProperties {
			if member == nil && regexp.MustCompile(pattern).MatchString(name) {
				member = other
			}
		}
		if member == nil {
			return at + " has " + name + ", which is not described"
		}
		if wrong := d.check(member, value, at+"."+name); wrong != "" {
			return wrong
		}
	}
	return ""
}

// The statuses, headers and members of answers are as described.
func TestAnswersAreAsDescribed(t *testing.T) {
	f := offered(Options{}, ServerOptions{})
	slow := alice
	slow.Rate, slow.Burst = Rate{1, time.Hour}, 7 // the eighth is too fast
	f.service.SetGrants([]Grant{{Key: "poor", Quota: 0}, {Key: "rich", Quota: Unlimited}, slow})
	d := describe(t, f)
	if !strings.HasPrefix(d.OpenAPI, "3.1.") {
		t.Errorf("version %q", d.OpenAPI)
	}
	if got := slices.Sorted(maps.Keys(d.Paths)); !slices.Equal(got, []string{UsagePath, ProductPath, WebsitePath}) {
		t.Errorf("paths %v", got)
	}
	long := strings.Repeat("a", maxInput+1)
	tests := []struct {
		name, method, path string
		params             []string
		change             func(*http.Request)
		status             int
	}{
		{"usage", "GET", UsagePath, nil, nil, 200},
		{"usage without end", "GET", UsagePath, nil, withHeader("x-api-key", "rich"), 200},
		{"a website", "GET", WebsitePath, []string{"url", "https://hotels.example", "classification", "taxonomy_v3"}, nil, 200},
		{"a company", "POST", WebsitePath, []string{"url", "https://dentist.example", "classification", "naics"}, nil, 200},
		{"a product", "GET", ProductPath, []string{"query", "sofa"}, nil, 200},
		{"nothing fits", "GET", ProductPath, []string{"query", "zzxqv"}, nil, 200},
		{"no input", "GET", ProductPath, nil, nil, 400},
		{"a wrong key", "GET", UsagePath, nil, withHeader("x-api-key", ""), 401},
		{"no quota", "GET", ProductPath, []string{"query", "sofa"}, withHeader("x-api-key", "poor"), 402},
		{"another classification", "GET", ProductPath, []string{"query", "sofa", "classification", "naics"}, nil, 404},
		{"a long input", "GET", ProductPath, []string{"query", long}, nil, 414},
		{"too fast", "GET", ProductPath, []string{"query", "sofa"}, nil, 429},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			change := tt.change
			if change == nil {
				change = func(*http.Request) {}
			}
			rec := askAlice(f, tt.method, target(tt.path, tt.params...), change)
			if rec.Code != tt.status {
				t.Fatalf("status %d, want %d: %s", rec.Code, tt.status, rec.Body)
			}
			described, ok := d.Paths[tt.path][strings.ToLower(tt.method)].Responses[strconv.Itoa(rec.Code)]
			if described.Ref != "" {
				described, ok = d.Components.Responses[strings.TrimPrefix(described.Ref, "#/components/responses/")]
			}
			if !ok {
				t.Fatal("the status is not described")
			}
			var body any
			if err := json.Unmarshal(rec.Body.Bytes(), &body); err != nil {
				t.Fatal(err)
			}
			if wrong := d.check(described.Content["application/json"].Schema, body, "the answer"); wrong != "" {
				t.Errorf("%s: %s", wrong, rec.Body)
			}
			for name := range rec.Header() {
				isDescribed := slices.ContainsFunc(slices.Collect(maps.Keys(described.Headers)), func(n string) bool { return strings.EqualFold(n, name) })
				if !isDescribed && !strings.HasPrefix(name, "Content-") {
					t.Errorf("the header %s is not described", name)
				}
			}
		})
	}
}

// Every operation has the described statuses, methods and inputs.
func TestParametersAreAsDescribed(t *testing.T) {
	f := offered(Options{WebsiteParam: `si"te`, ProductParam: "q"}, ServerOptions{})
	d := describe(t, f)
	for path, op := range f.service.operations {
		methods := slices.DeleteFunc(slices.Clone(op.methods()), func(method string) bool { return method == http.MethodHead }) // described as GET
		if got, want := len(d.Paths[path]), len(methods); got != want {
			t.Errorf("%s: %d methods are described, it has %d", path, got, want)
		}
		for method, described := range d.Paths[path] {
			if !slices.Contains(op.methods(), strings.ToUpper(method)) {
				t.Errorf("%s has no %s", path, method)
			}
			var names []string
			for _, p := range described.Parameters {
				if p.In == "query" {
					names = append(names, p.Name)
				}
			}
			if described.RequestBody != nil {
				for _, content := range described.RequestBody.Content {
					names = slices.Sorted(maps.Keys(content.Schema.Properties))
				}
			}
			if op.input != "" && (len(names) != 2 || !slices.Contains(names, op.input) || !slices.Contains(names, "classification")) {
				t.Errorf("%s %s: inputs %q", method, path, names)
			}
		}
	}
	if strings.Contains(f.service.openAPI(), "_PARAM") {
		t.Error("a placeholder is left")
	}
}
