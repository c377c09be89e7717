package reader

import (
	"errors"
	"log/slog"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestColumnNames(t *testing.T) {
	usual := []string{"url", "website", "website_url", "domain_name"}
	tests := []struct {
		name    string
		header  string
		options Options
		want    string // the input column, or a part of the error
	}{
		{"spaces", "id,Website URL", Options{Candidates: usual}, "Website URL"},
		{"underscores", "id,DOMAIN_NAME", Options{Candidates: usual}, "DOMAIN_NAME"},
		{"neither", "id,domainName", Options{Candidates: usual}, "domainName"},
		{"the order of the candidates", "Domain Name,Website", Options{Candidates: usual}, "Website"},
		{"equal before alike", "Website URL,website_url", Options{Candidates: usual}, "website_url"},
		{"several alike", "Website URL,WebsiteURL,id", Options{Candidates: usual},
			`column "website_url" may be any of Website URL, WebsiteURL (columns: Website URL, WebsiteURL, id)`},
		{"several that differ in case", "URL,Url", Options{Candidates: usual}, `column "url" may be any of URL, Url`},
		{"none", "id,site", Options{Candidates: usual}, "None is called url, website, website_url, domain_name (columns: id, site)"},
		{"named", "id,Web Site", Options{Columns: []string{"website"}}, "Web Site"},
		{"named, several alike", "web_site,Web Site", Options{Columns: []string{"website"}}, `column "website" may be any of web_site, Web Site`},
		{"named, case before spaces", "web site,WEBSITE", Options{Columns: []string{"website"}}, "WEBSITE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.options.Format = "csv"
			r, err := Open(t.Context(), fromString(test.header+"\n1,2,3\n"[:2*strings.Count(test.header, ",")+2]+"\n", test.options))
			if err != nil {
				if !strings.Contains(err.Error(), test.want) {
					t.Errorf("got %v, want %s", err, test.want)
				}
				return
			}
			if got := strings.Join(r.Files()[0].Inputs, ", "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

// Carried columns follow the same rules.
func TestExtraColumnNames(t *testing.T) {
	const content = "domain,Product Name,ID,Brand,BRAND\na,b,7,c,d\n"
	r := openReader(t, fromString(content, Options{Format: "csv", Candidates: candidates, ExtraColumns: []string{"product_name", "id"}}))
	if got := strings.Join(r.Columns(), "|"); got != "domain|Product Name|ID|Brand|BRAND" {
		t.Errorf("columns %s", got)
	}
	for name, want := range map[string]int{"product_name": 1, "Product Name": 1, "id": 2, "ID": 2} {
		if place, found := r.Place(name); !found || place != want {
			t.Errorf("%s: column %d (%t), want %d", name, place, found, want)
		}
	}
	if _, found := r.Place("title"); found {
		t.Error("title is found")
	}
	_, err := Open(t.Context(), fromString(content, Options{Format: "csv", Candidates: candidates, ExtraColumns: []string{"brand"}}))
	if err == nil || !strings.Contains(err.Error(), `column "brand" may be any of Brand, BRAND (columns: domain, Product Name, ID, Brand, BRAND)`) {
		t.Errorf("got %v", err)
	}
}

// The input column is the first of several with usual names, and a warning lists them, once.
func TestSeveralUsualColumns(t *testing.T) {
	for _, test := range []struct{ format, content, want string }{
		{"csv", "id,Domain Name,Website\n1,a,b\n", "column=Website columns=\"Domain Name, Website\""},
		{"csv", "url,URL\na,b\n", "column=url columns=\"url, URL\""},
		{"jsonl", `{"domain_name":"a","url":"b"}` + "\n", "column=url columns=\"domain_name, url\""},
		{"", `[{"domain_name":"a","url":"b"}]`, "column=url columns=\"domain_name, url\""},
		{"csv", "id,Website\n1,a\n", ""},
		{"csv", "url,url,id\na,b,1\n", "column=url columns=\"url, url_2\""},
		{"csv", "URL,URL\na,b\n", "column=URL columns=\"URL, URL_2\""},
		{"csv", "#url,url\na,b\n", "column=url columns=\"url, url_2\""},
		{"csv", "id,url,id\n1,a,1\n", ""},
		{"csv", "url,url_2\na,b\n", ""},
	} {
		var log strings.Builder
		options := Options{Format: test.format, Candidates: []string{"url", "website", "domain_name"}, Log: slog.New(slog.NewTextHandler(&log, nil))}
		openReader(t, fromString(test.content, options))
		if n := strings.Count(log.String(), "several columns"); n > 1 || (n == 1) != (test.want != "") || !strings.Contains(log.String(), test.want) {
			t.Errorf("%q: the log is %q, want %q", test.content, log.String(), test.want)
		}
	}
}

// A named column is no choice if several columns of the file have its name.
func TestSeveralEqualColumns(t *testing.T) {
	for _, test := range []struct {
		header, column, want string // want is the other column, or "" for no warning
	}{
		{"title,title,id", "title", "title, title_2"},
		{"title,title,id", "TITLE ", "title, title_2"},
		{"title,title,title", "title", "title, title_2, title_3"},
		{"id,title,title", "title", "title, title_2"},
		{"title,title,id", "title_2", ""}, // the user has chosen
		{"Title,title,id", "title", ""},
		{"title,id,id", "title", ""},
		{",,id", "1", ""},
	} {
		for _, dialect := range []Dialect{{}, {Strict: true}} {
			var log strings.Builder
			o := fromString(test.header+"\na,b,c\n", Options{Format: "csv", Columns: []string{test.column}, Dialect: dialect, Log: slog.New(slog.NewTextHandler(&log, nil))})
			r, err := Open(t.Context(), o)
			if column, ambiguous := errors.AsType[*ColumnError](err); ambiguous {
				t.Fatalf("%s, column %s: %v", test.header, test.column, column)
			}
			defer r.Close()
			if got := log.String(); (got == "") != (test.want == "") || !strings.Contains(got, test.want) || r.Files()[0].Guessed != (test.want != "") {
				t.Errorf("%s, column %s: guessed %t, and the log is %q", test.header, test.column, r.Files()[0].Guessed, got)
			}
		}
	}
}

// An ambiguous name among the extra columns names that option, also for Parquet.
func TestExtraColumnNamesOfParquet(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.parquet")
	rows := []struct {
		Domain string `parquet:"domain"`
		Brand  string `parquet:"Brand"`
		BRAND  string `parquet:"BRAND"`
	}{{"a.com", "b", "c"}}
	if err := parquet.WriteFile(path, rows); err != nil {
		t.Fatal(err)
	}
	_, err := Open(t.Context(), Options{Paths: []string{path}, Candidates: candidates, ExtraColumns: []string{"brand"}})
	column, ok := errors.AsType[*ColumnError](err)
	if !ok || len(column.Matches) != 2 || column.OptionName() != "reader.ExtraColumns" {
		t.Errorf("got %v", err)
	}
}
