package robots

import (
	"strings"
	"testing"
)

func TestAllows(t *testing.T) {
	tests := []struct {
		name, text string
		allowed    []string
		disallowed []string
	}{
		{"nothing said", "", []string{"/", "/a?b"}, nil},
		{"a page of HTML", "<!doctype html><title>Disallow: /</title>", []string{"/"}, nil},
		{"everyone kept out", "User-agent: *\nDisallow: /", nil, []string{"/", "/a"}},
		{"nothing disallowed", "User-agent: *\nDisallow:", []string{"/"}, nil},
		{"rules without a group", "Disallow: /\nUser-agent: *\nAllow: /a", []string{"/", "/a"}, nil},
		{"the group of our own name", "User-agent: *\nDisallow: /\nUser-agent: BulkCat/1.0\nDisallow: /private", []string{"/"}, []string{"/private/x"}},
		{"our own group is empty", "User-agent: *\nDisallow: /\n\nUser-agent: bulkcat", []string{"/"}, nil},
		{"our name in another", "User-agent: bulkcats\nUser-agent: a bulkcat\nDisallow: /", []string{"/"}, nil},
		{"groups of one name are one", "User-agent: bulkcat\nDisallow: /a\nUser-agent: other\nDisallow: /\nUser-agent: bulkcat\nDisallow: /b", []string{"/"}, []string{"/a", "/b"}},
		{"names share a group", "User-agent: other\nUser-agent: bulkcat\nSitemap: /s\nDisallow: /a", []string{"/"}, []string{"/a"}},
		{"the longest match decides", "User-agent: *\nAllow: /shop/open\nDisallow: /shop", []string{"/", "/shop/open/1"}, []string{"/shop", "/shops"}},
		{"allow wins a tie", "User-agent: *\nDisallow: /page\nAllow: /page", []string{"/page"}, nil},
		{"allow wins a tie in the other order", "User-agent: *\nAllow: /page\nDisallow: /page", []string{"/page"}, nil},
		{"stars", "User-agent: *\nDisallow: /*/print/*.pdf", []string{"/print/a.pdf", "/a/print/b.doc"}, []string{"/a/print/b.pdf", "/a/b/print/c.pdf?x"}},
		{"an end", "User-agent: *\nDisallow: /*.pdf$\nDisallow: /a$", []string{"/x.pdf?y", "/a/", "/ab"}, []string{"/x.pdf", "/x.pdf.pdf", "/a"}},
		{"a star before the end", "User-agent: *\nDisallow: /a*$", []string{"/b"}, []string{"/a", "/abc"}},
		{"stars that overlap", "User-agent: *\nDisallow: /ab*b$", []string{"/ab"}, []string{"/abb", "/abxb"}},
		{"a dollar within", "User-agent: *\nDisallow: /a$b", []string{"/ab"}, []string{"/a$bc"}},
		{"queries", "User-agent: *\nDisallow: /*?sort=", []string{"/a?page=2"}, []string{"/a?sort=up"}},
		{"percent-encoding", "User-agent: *\nDisallow: /%7ejoe\nDisallow: /b%c3%A4r\nDisallow: /a%2fb", []string{"/a/b"}, []string{"/~joe", "/bär", "/b%C3%A4r", "/a%2Fb"}},
		{"broken percent-encoding", "User-agent: *\nDisallow: /100%\nDisallow: /%zz", []string{"/"}, []string{"/100%", "/%zz"}},
		{"comments, spaces, line ends and a byte order mark", "\ufeff user-AGENT : * # all\r\n\r\nDISALLOW:\t/a # not this\rdisallow: /b", []string{"/"}, []string{"/a", "/b"}},
		{"lines that are none", "User-agent: *\nnonsense\nCrawl-delay: 5\nDisallow /a\nDisallow: /b", []string{"/a"}, []string{"/b"}},
		{"rules beyond the bound", "User-agent: *\nDisallow: /a\n" + strings.Repeat("#", MaxBytes) + "\nDisallow: /b", []string{"/b"}, []string{"/a"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rules := Parse([]byte(tt.text), "bulkcat")
			for _, path := range tt.allowed {
				if !rules.Allows(path) {
					t.Errorf("%s is not allowed", path)
				}
			}
			for _, path := range tt.disallowed {
				if rules.Allows(path) {
					t.Errorf("%s is allowed", path)
				}
			}
		})
	}
}

func TestNothingIsAllowed(t *testing.T) {
	if Nothing().Allows("/") || Nothing().Allows("/a?b") || !(Rules{}).Allows("/") {
		t.Error("Nothing must allow nothing, the zero value everything")
	}
}

// FuzzAllows compares matching with the plainest way to do it.
func FuzzAllows(f *testing.F) {
	f.Add("User-agent: *\nDisallow: /a*b*c$\nAllow: /a", "/abbc")
	f.Add("User-agent: bulkcat\r\nDisallow: /%e4*\rAllow: /$", "/%E4?x=%")
	f.Add("User-agent: *\nDisallow: /*a*a*a*b", "/aaaaaaaaaaaaaaaa")
	f.Fuzz(func(t *testing.T, text, path string) {
		rules := Parse([]byte(text), "bulkcat")
		if len(path) > 64 || rules.Size() > 4096 {
			t.Skip() // the plain way is exponential
		}
		longest, allowed := -1, true
		for _, r := range rules.rules {
			pattern, anchored := strings.CutSuffix(r.pattern, "$")
			if strings.Count(pattern, "*") > 4 {
				t.Skip()
			}
			if n := len(r.pattern); plainly(pattern, normalize(path), anchored) && (n > longest || n == longest && r.allow) {
				longest, allowed = n, r.allow
			}
		}
		if got := rules.Allows(path); got != allowed {
			t.Errorf("%q allows %q: %v, want %v", text, path, got, allowed)
		}
	})
}

func plainly(pattern, path string, anchored bool) bool {
	switch {
	case pattern == "":
		return !anchored || path == ""
	case pattern[0] == '*':
		for i := 0; i <= len(path); i++ {
			if plainly(pattern[1:], path[i:], anchored) {
				return true
			}
		}
		return false
	}
	return path != "" && pattern[0] == path[0] && plainly(pattern[1:], path[1:], anchored)
}
