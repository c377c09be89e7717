package pipeline

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// The requests are counted before the run, unless the size of the input shows that the quota is enough.
func TestMayExceedQuota(t *testing.T) {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write([]byte("a\nb\n"))
	_ = z.Close()
	for name, tt := range map[string]struct {
		content, classification string
		left                    string
		want                    bool
		requested               account.Requested
	}{
		"enough for the shortest records": {"a\nb\nc", "naics", "3", false, account.Requested{}},
		"one less":                        {"a\nb\nc", "naics", "2", true, account.Requested{}},
		"two classifications":             {"a\nb\nc", "taxonomy_v3,naics", "5", true, account.Requested{}},
		"lines of JSON":                   {`"a"` + "\n" + `"b"`, "naics", "5", false, account.Requested{}},
		"a JSON array":                    {`["a","b","c"]`, "naics", "1000", true, account.Requested{}},
		"gzip":                            {packed.String(), "naics", "1000", true, account.Requested{}},
		"no quota":                        {"a\nb\nc", "naics", "unlimited", false, account.Requested{}},
		"a limit":                         {packed.String(), "taxonomy_v3,naics", "4", false, account.Requested{Limit: 2}},
		"a sample":                        {packed.String(), "taxonomy_v3,naics", "4", false, account.Requested{Sample: 2}},
		"a larger sample":                 {packed.String(), "taxonomy_v3,naics", "4", true, account.Requested{Sample: 3}},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "in")
			if err := os.WriteFile(path, []byte(tt.content), 0o666); err != nil {
				t.Fatal(err)
			}
			o := newOpened(Options{
				Classifications: strings.Split(tt.classification, ","),
				Requested:       tt.requested,
				Input:           reader.Options{Paths: []string{path}},
				Output:          OutputOptions{Path: "-"},
				Service:         Service{Hosted: true, Usage: func(context.Context) (client.Usage, error) { return client.Usage{Remaining: tt.left}, nil }},
			}, storage.Own(t.Context()))
			if err := o.openInput(t.Context()); err != nil {
				t.Fatal(err)
			}
			defer o.input.Close()
			if err := o.quota.Check(t.Context(), nil, ""); err != nil {
				t.Fatal(err)
			}
			if got := o.mayExceedQuota(); got != tt.want {
				t.Errorf("%t", got)
			}
		})
	}
}

// The shortest files have one record each, without the end of a line.
func TestQuotaForShortFiles(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"1.txt", "2.txt", "3.txt", "4.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("a"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	o := newOpened(Options{
		Classifications: []string{client.NAICS},
		Input:           reader.Options{Paths: []string{dir}},
		Output:          OutputOptions{Path: "-"},
		Service:         Service{Hosted: true, Usage: func(context.Context) (client.Usage, error) { return client.Usage{Remaining: "3"}, nil }},
	}, storage.Own(t.Context()))
	if err := errors.Join(o.openInput(t.Context()), o.quota.Check(t.Context(), nil, "")); err != nil {
		t.Fatal(err)
	}
	defer o.input.Close()
	if !o.mayExceedQuota() {
		t.Error("3 requests are not enough for 4 files")
	}
}

func TestCountRecords(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in.csv")
	text := "title\n" + strings.Repeat("shoe\n\"a\nb\"\n", 2000)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	o := reader.Options{Paths: []string{path}, Columns: []string{"title"}}
	if n, ok := countRecords(t.Context(), o, 0); !ok || n != 4000 {
		t.Errorf("got %d, %t", n, ok)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, ok := countRecords(ctx, o, 0); ok {
		t.Error("a count that was ended is taken for the number")
	}
}
