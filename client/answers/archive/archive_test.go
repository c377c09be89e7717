package archive_test

import (
	"context"
	"errors"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	. "github.com/bulkcat/bulkcat/client/answers/archive"
)

const source = "https://api.example.com"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

const (
	exportedLine = `{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3","input":"https://example.com","outcome":"answer","status":200,"answered_at":"2026-03-01T12:00:00.123456Z","body":{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}}` + "\n"

	// exportedLines have an answer of each sort.
	exportedLines = exportedLine +
		`{"source":"https://other.example.com","kind":"product","classification":"product_taxonomy_custom_pets","input":"Dog\tCollar ` + "\x7f" + `","outcome":"answer","status":200,"answered_at":"2026-03-01T11:00:00Z","body":{"pets":[]}}` + "\n" +
		`{"source":"https://api.example.com","kind":"website","classification":"naics","input":"https://ümlaut.example/<&>","outcome":"answer","status":200,"answered_at":"2026-03-01T13:00:00Z","body":{"naics":[],"big":12345678901234567890.10}}` + "\n" +
		`{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3","input":"https://gone.example","outcome":"rejection","status":404,"answered_at":"2026-03-01T12:00:00.123456Z","body":"{\"no\": \"\u003csuch\u003e site\"}\n"}` + "\n"
)

// suite is a store in a folder.
type suite struct {
	*testing.T
	options answers.Options
	*answers.Store
}

func start(t *testing.T) *suite {
	return (&suite{T: t, options: answers.Options{Dir: t.TempDir(), Source: source}}).open()
}

func (s *suite) open() *suite {
	s.Helper()
	var err error
	if s.Store, err = answers.Open(s.options); err != nil {
		s.Fatal(err)
	}
	return s
}

func (s *suite) close() {
	s.Helper()
	s.must(s.Store.Close())
}

func (s *suite) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

func (s *suite) importAll(text string) Imported {
	s.Helper()
	imported, err := Import(s.Context(), s.Store, strings.NewReader(text), "answers.jsonl")
	s.must(err)
	return imported
}

func (s *suite) exported() string {
	s.Helper()
	var out strings.Builder
	n, err := Export(s.Store, &out)
	s.must(err)
	if int64(strings.Count(out.String(), "\n")) != n {
		s.Errorf("the export says %d, and has\n%s", n, &out)
	}
	return out.String()
}

// damage flips a bit of the last byte of the log of a closed store.
func (s *suite) damage() {
	s.Helper()
	path := s.options.Dir + "/00000001.log"
	text, err := os.ReadFile(path)
	s.must(err)
	text[len(text)-1] ^= 1
	s.must(os.WriteFile(path, text, 0o666))
}

func TestExportAndBack(t *testing.T) {
	s := start(t)
	if got := s.importAll(exportedLines); got != (Imported{Added: 4}) {
		t.Errorf("imported %+v", got)
	}
	s.must(s.KeepLearnedRate(5)) // which is no answer
	if text := s.exported(); text != exportedLines {
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
			s := start(t)
			s.importAll(exportedLine)
			if got := s.importAll(tt.lines); got != tt.want {
				t.Errorf("%+v", got)
			}
			if left := s.exported(); left != tt.left {
				t.Errorf("left\n%s", left)
			}
			s.close()
		})
	}
}

func TestImportReplacesADamagedAnswer(t *testing.T) {
	s := start(t)
	s.importAll(exportedLine)
	s.close()
	s.damage()
	s.open()
	if got := s.importAll(exportedLine); got != (Imported{Added: 1}) {
		t.Errorf("%+v", got)
	}
	if left := s.exported(); left != exportedLine {
		t.Errorf("left\n%s", left)
	}
	s.close()
}

// TestMerge adds a store to another: of two answers the newer is left, and a canceled merge is
// told of.
func TestMerge(t *testing.T) {
	from, to := start(t), start(t)
	older := strings.Replace(exportedLine, "2026-03", "2026-02", 1)
	to.importAll(older)
	from.importAll(exportedLines)
	canceled, cancel := context.WithCancelCause(t.Context())
	reason := errors.New("interrupted")
	cancel(reason)
	if got, err := Merge(canceled, to.Store, from.Store); !errors.Is(err, reason) || got.Added != 0 {
		t.Errorf("canceled: %+v, %v", got, err)
	}
	for _, want := range []Imported{{Added: 4}, {Kept: 4}} {
		if got, err := Merge(t.Context(), to.Store, from.Store); got != want || err != nil {
			t.Errorf("%+v, %v; want %+v", got, err, want)
		}
	}
	if text := to.exported(); text != exportedLines {
		t.Errorf("left\n%s", text)
	}
	from.close()
	to.close()
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
			s := start(t)
			got, err := Import(t.Context(), s.Store, strings.NewReader(exportedLine+"\n"+bad+exportedLine), "answers.jsonl")
			malformed, ok := errors.AsType[*ImportError](err)
			if !ok || malformed.Line != 3 || !strings.HasPrefix(err.Error(), "answers.jsonl:3: ") || !strings.Contains(malformed.Err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			if left := s.exported(); got != (Imported{Added: 1}) || left != exportedLine {
				t.Errorf("the lines before: %+v\n%s", got, left)
			}
			s.close()
		})
	}
}

func TestImportTellsOfAReadError(t *testing.T) {
	s := start(t)
	broken := errors.New("broken pipe")
	for _, begun := range []string{"", exportedLine[:20]} {
		got, err := Import(t.Context(), s.Store, io.MultiReader(strings.NewReader(exportedLine+begun), failingReader{broken}), "-")
		var malformed *ImportError
		if !errors.Is(err, broken) || errors.As(err, &malformed) || got.Added+got.Kept != 1 {
			t.Errorf("after %q: %+v, %v", begun, got, err)
		}
	}
	s.close()
}

type failingReader struct{ err error }

func (r failingReader) Read([]byte) (int, error) { return 0, r.err }

func TestCount(t *testing.T) {
	s := start(t)
	s.importAll(exportedLines)
	s.importAll(strings.Replace(exportedLine, "example.com\",\"outcome", "example.org\",\"outcome", 1))
	s.close()
	s.damage()
	s.options.ReadOnly = true
	s.open()
	got, err := Count(s.Store)
	s.must(err)
	at := noon.Add(123456 * time.Microsecond)
	want := []Group{
		{source, client.Website, client.NAICS, 1, 0, noon.Add(time.Hour), noon.Add(time.Hour)},
		{source, client.Website, client.TaxonomyV3, 1, 1, at, at},
		{"https://other.example.com", client.Product, client.CustomPrefix + "pets", 1, 0, noon.Add(-time.Hour), noon.Add(-time.Hour)},
	}
	if !reflect.DeepEqual(got.Groups, want) || got.Damaged != 1 || got.Bytes < 500 {
		t.Errorf("got %+v", got)
	}
	s.close()
}

func FuzzImport(f *testing.F) {
	f.Add([]byte(exportedLines))
	f.Add([]byte(strings.Replace(exportedLine, `{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`, `[]`, 1)))
	f.Add([]byte(`{"source":"s","kind":"product","classification":"product_taxonomy","input":"x","outcome":"rejection","status":404,"answered_at":"2026-03-01T12:00:00+02:00","body":"gone"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		s := start(t)
		imported, err := Import(t.Context(), s.Store, strings.NewReader(string(text)), "fuzz")
		if _, malformed := errors.AsType[*ImportError](err); err != nil && !malformed {
			t.Fatal(err)
		}
		out := s.exported()
		if total := imported.Added - int64(strings.Count(out, "\n")); total < 0 || s.Damaged() != 0 || imported.Added > 0 && out == "" {
			t.Fatalf("%+v, exported %q, %d damaged", imported, out, s.Damaged())
		}
		s.close()
	})
}

func TestImportEndsWithItsContext(t *testing.T) {
	s := start(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := errors.New("stopped")
	cancel(stop)
	if got, err := Import(ctx, s.Store, strings.NewReader(exportedLine+"\n"), "answers.jsonl"); !errors.Is(err, stop) || got.Added != 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}
