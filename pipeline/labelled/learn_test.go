package labelled_test

import (
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/page"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/labelled"
	"github.com/bulkcat/bulkcat/reader"
)

// A model of websites reads their pages, which have the words that tell the labels apart. Without pages the addresses of one
// host are all the same.
func TestLearnFromPages(t *testing.T) {
	words := []struct{ label, text string }{{"Sports", "zorblax quabber"}, {"Travel", "plimsy vortle"}, {"Law", "grundel snarvic"}}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var n int
		if _, err := fmt.Sscanf(r.URL.Path, "/%d", &n); err != nil {
			http.NotFound(w, r)
			return
		}
		fmt.Fprintf(w, "<html><head><title>Welcome</title></head><body><p>%s number %d, and %s again for all who come here.</p></body></html>",
			words[n%len(words)].text, n, words[n%len(words)].text)
	}))
	defer server.Close()
	const sites = 60
	var rows strings.Builder
	rows.WriteString("url,label\n")
	for i := range sites {
		fmt.Fprintf(&rows, "%s/%d,%s\n", server.URL, i, words[i%len(words)].label)
	}
	path := filepath.Join(t.TempDir(), "sites.csv")
	if err := os.WriteFile(path, []byte(rows.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	quiet := slog.New(slog.DiscardHandler)
	train := func(fetch *page.Fetcher) (labelled.Learned, error) {
		return labelled.Learn(t.Context(), labelled.Learning{
			Kind: client.Website, Taxonomy: &taxonomy.Custom{Taxonomy: *taxonomy.IAB()},
			Features: embedded.New(embedded.Options{Fetch: fetch, Logger: quiet}).Features,
			Input:    reader.Options{Paths: []string{path}, Columns: []string{"url"}}, LabelColumn: "label",
		})
	}
	learned, err := train(page.New(page.Options{Mode: page.Always, AllowPrivate: true, Logger: quiet}))
	if err != nil {
		t.Fatal(err)
	}
	if m := learned.Model; m.Labels != sites || m.Pages != sites || m.Report.Top1 < 0.9 {
		t.Errorf("%d labels, %d pages, %.2f right", m.Labels, m.Pages, m.Report.Top1)
	}
	_, err = train(nil)
	if few, ok := errors.AsType[*learn.TooFewError](err); !ok || few.Labels != 1 {
		t.Errorf("without pages: %v", err)
	}
}
