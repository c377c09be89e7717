package answers_test

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"io"
	"math/rand/v2"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
	. "github.com/bulkcat/bulkcat/client/answers"
)

// noise is text that cannot be compressed by much.
var noise = sync.OnceValue(func() string {
	b := make([]byte, 768<<10)
	rng := rand.NewChaCha8([32]byte{})
	rng.Read(b)
	return base64.StdEncoding.EncodeToString(b)
})

func checksum(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

const (
	exportedLine = `{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3","input":"https://example.com","outcome":"answer","status":200,"answered_at":"2026-03-01T12:00:00.123456Z","body":{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}}` + "\n"

	// exportedLines have an answer of each sort.
	exportedLines = exportedLine +
		`{"source":"https://other.example.com","kind":"product","classification":"product_taxonomy_custom_pets","input":"Dog\tCollar ` + "\x7f" + `","outcome":"answer","status":200,"answered_at":"2026-03-01T11:00:00Z","body":{"pets":[]}}` + "\n" +
		`{"source":"https://api.example.com","kind":"website","classification":"naics","input":"https://ümlaut.example/<&>","outcome":"answer","status":200,"answered_at":"2026-03-01T13:00:00Z","body":{"naics":[],"big":12345678901234567890.10}}` + "\n" +
		`{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3","input":"https://gone.example","outcome":"rejection","status":404,"answered_at":"2026-03-01T12:00:00.123456Z","body":"{\"no\": \"\u003csuch\u003e site\"}\n"}` + "\n"
)

func (s *suite) importAll(text string) Imported {
	s.Helper()
	imported, err := s.Import(strings.NewReader(text), "answers.jsonl")
	s.must(err)
	return imported
}

func TestExportAndBack(t *testing.T) {
	s := start(t, vfs.NewMem())
	if got := s.importAll(exportedLines); got != (Imported{Added: 4}) {
		t.Errorf("imported %+v", got)
	}
	s.must(s.KeepLearnedRate(5)) // which is no answer
	if text, _ := s.exported(); text != exportedLines {
		t.Errorf("exported\n%s", text)
	}
	if got := s.importAll(exportedLines); got != (Imported{Kept: 4}) {
		t.Errorf("once more: %+v", got)
	}
	s.close()
}

func TestImportKeepsTheNewer(t *testing.T) {
	older := strings.Replace(exportedLine, "2026-03", "2026-02", 1)
	newer := strings.Replace(exportedLine, "2026-03", "2026-04", 1)
	for name, tt := range map[string]struct {
		lines string
		want  Imported
		left  string
	}{
		"older than stored":    {older, Imported{Kept: 1}, exportedLine},
		"newer than stored":    {newer, Imported{Added: 1}, newer},
		"both, the newer last": {older + newer, Imported{Added: 1, Kept: 1}, newer},
		"both, the older last": {newer + "\n" + older, Imported{Added: 1, Kept: 1}, newer},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t, vfs.NewMem())
			s.importAll(exportedLine)
			if got := s.importAll(tt.lines); got != tt.want {
				t.Errorf("%+v", got)
			}
			if left, _ := s.exported(); left != tt.left {
				t.Errorf("left\n%s", left)
			}
			s.close()
		})
	}
}

func TestImportReplacesADamagedAnswer(t *testing.T) {
	disk := vfs.NewMem()
	s := start(t, disk)
	s.importAll(exportedLine)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]
	s.options.FS = lay(t, with(files, path, flip(files[path], len(files[path])-1)))
	s.open()
	if got := s.importAll(exportedLine); got != (Imported{Added: 1}) {
		t.Errorf("%+v", got)
	}
	if left, _ := s.exported(); left != exportedLine {
		t.Errorf("left\n%s", left)
	}
	s.close()
}

func TestMalformedLines(t *testing.T) {
	for name, tt := range map[string]struct{ old, new, says string }{
		"cut short":            {`}}`, ``, "not an exported answer"},
		"more than one":        {`}}`, `}}{}`, "not an exported answer"},
		"no source":            {`https://api.example.com`, ``, "source"},
		"a source with NUL":    {`https://api`, `https:\u0000//api`, "source"},
		"the store's own key":  {`https://api`, `\u0000format`, "source"},
		"another kind":         {`"website"`, `"person"`, "kind"},
		"other classification": {`"taxonomy_v3","input`, `"taxonomy_v9","input`, "classification"},
		"no input":             {`"https://example.com"`, `""`, "input"},
		"another outcome":      {`"answer"`, `"question"`, "outcome"},
		"a failed answer":      {`200`, `503`, "status"},
		"no time":              {`"2026-03-01T12:00:00.123456Z"`, `null`, "answered_at"},
		"no body":              {`"body":{`, `"bady":{`, "body"},
		"another body":         {`{"taxonomy_v3":[`, `{"naics":[`, "body"},
		"a rejection's body":   {`"answer","status":200`, `"rejection","status":404`, "body"},
		"a rejection's status": {`"answer","status":200`, `"rejection","status":40400`, "status"},
	} {
		t.Run(name, func(t *testing.T) {
			bad := strings.Replace(exportedLine, tt.old, tt.new, 1)
			if bad == exportedLine {
				t.Fatal("the case changes nothing")
			}
			s := start(t, vfs.NewMem())
			got, err := s.Import(strings.NewReader(exportedLine+"\n"+bad+exportedLine), "answers.jsonl")
			malformed, ok := errors.AsType[*ImportError](err)
			if !ok || malformed.Line != 3 || !strings.HasPrefix(err.Error(), "answers.jsonl:3: ") || !strings.Contains(malformed.Err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			if left, _ := s.exported(); got != (Imported{Added: 1}) || left != exportedLine {
				t.Errorf("the lines before: %+v\n%s", got, left)
			}
			s.close()
		})
	}
}

func TestImportTellsOfAReadError(t *testing.T) {
	s := start(t, vfs.NewMem())
	broken := errors.New("broken pipe")
	for _, begun := range []string{"", exportedLine[:20]} {
		got, err := s.Import(io.MultiReader(strings.NewReader(exportedLine+begun), failingReader{broken}), "-")
		var malformed *ImportError
		if !errors.Is(err, broken) || errors.As(err, &malformed) || got.Added+got.Kept != 1 {
			t.Errorf("after %q: %+v, %v", begun, got, err)
		}
	}
	s.close()
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestStats(t *testing.T) {
	disk := vfs.NewMem()
	s := start(t, disk)
	s.importAll(exportedLines)
	s.put(1, 2, 0)
	s.close()
	files := contents(t, disk)
	path := logFiles(files)[0]
	s.options.FS, s.options.ReadOnly = lay(t, with(files, path, flip(files[path], len(files[path])-1))), true
	s.open()
	got, err := s.Stats()
	s.must(err)
	want := []Group{
		{source, client.Website, client.NAICS, 1, 0, noon.Truncate(time.Hour).Add(time.Hour), noon.Truncate(time.Hour).Add(time.Hour)},
		{source, client.Website, client.TaxonomyV3, 1, 1, noon, noon},
		{"https://other.example.com", client.Product, client.CustomPrefix + "pets", 1, 0, noon.Truncate(time.Hour).Add(-time.Hour), noon.Truncate(time.Hour).Add(-time.Hour)},
	}
	if !reflect.DeepEqual(got.Groups, want) || got.Damaged != 1 || got.Bytes < 500 {
		t.Errorf("got %+v", got)
	}
	s.close()
}

func TestCompactingIsInterrupted(t *testing.T) {
	s := start(t, vfs.NewMem())
	s.put(0, 100, 0)
	reason := errors.New("received interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(reason)
	if err := s.Compact(ctx); err != reason {
		t.Errorf("got %v", err)
	}
	s.wantAll(100, 0)
	s.must(s.Compact(t.Context()))
	s.wantAll(100, 0)
	s.close()
}

// TestCompactGivesSpaceBack replaces all answers several times.
func TestCompactGivesSpaceBack(t *testing.T) {
	s := start(t, vfs.NewMem())
	s.put(0, 3000, 0)
	s.must(s.Compact(t.Context()))
	once, err := s.Stats()
	s.must(err)
	for v := range 4 {
		s.put(0, 3000, v+1)
	}
	s.must(s.Compact(t.Context()))
	again, err := s.Stats()
	s.must(err)
	if again.Bytes > once.Bytes*11/10 {
		t.Errorf("%d bytes, and after the replacements %d", once.Bytes, again.Bytes)
	}
	s.wantAll(3000, 4)
	s.close()
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(exportedLines))
	f.Add([]byte(strings.Replace(exportedLine, `{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`, `[]`, 1)))
	f.Add([]byte(`{"source":"s","kind":"product","classification":"product_taxonomy","input":"x","outcome":"rejection","status":404,"answered_at":"2026-03-01T12:00:00+02:00","body":"gone"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := start(t, vfs.NewMem())
		imported, err := s.Import(strings.NewReader(string(text)), "fuzz")
		if _, malformed := errors.AsType[*ImportError](err); err != nil && !malformed {
			t.Fatal(err)
		}
		out, inputs := s.exported()
		if total := imported.Added - int64(strings.Count(out, "\n")); total < 0 || s.Damaged() != 0 || imported.Added > 0 && len(inputs) == 0 {
			t.Fatalf("%+v, exported %q, %d damaged", imported, out, s.Damaged())
		}
		s.close()
	})
}
