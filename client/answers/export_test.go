package answers

import (
	"bytes"
	"context"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client"
)

const exportedLine = `{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3","input":"https://example.com","outcome":"answer","status":200,"answered_at":"2026-03-01T12:00:00.123456Z","body":{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}}` + "\n"

func export(t *testing.T, s *Store) string {
	t.Helper()
	var out bytes.Buffer
	if _, err := s.Export(&out); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// fill puts an answer of each sort into the store.
func fill(t *testing.T, s *Store) {
	t.Helper()
	b := s.NewBatch()
	reason := &client.Error{Class: client.Rejected, Status: 404, Detail: "{\"no\": \"<such> site\"}\n"}
	exact := sound(noon.Add(time.Hour))
	exact.Answer.Body = []byte("{\"naics\": [], \n \"big\":12345678901234567890.10}")
	naics := client.Request{Kind: client.Website, Input: "https://ümlaut.example/<&>", Classification: client.NAICS}
	custom := client.Request{Kind: client.Product, Input: "Dog\tCollar \x7f", Classification: client.CustomPrefix + "pets"}
	none := sound(noon.Add(-time.Hour))
	none.Answer.Body = []byte(`{"pets":[]}`)
	if err := errors.Join(
		b.add("https://other.example.com", custom, none, false),
		b.Add(request, sound(noon), false),
		b.Add(naics, exact, false),
		b.Add(client.Request{Kind: client.Website, Input: "https://gone.example", Classification: client.TaxonomyV3},
			Outcome{Rejection: reason, Answer: client.Answer{AnsweredAt: noon}}, false),
		b.Commit(), s.KeepLearnedRate(5),
	); err != nil {
		t.Fatal(err)
	}
}

func TestExportAndBack(t *testing.T) {
	first := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, first)
	fill(t, first)
	text := export(t, first)
	if !strings.Contains(text, exportedLine) || strings.Count(text, "\n") != 4 {
		t.Errorf("exported\n%s", text)
	}
	second := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, second)
	imported, err := second.Import(strings.NewReader(text), "answers.jsonl")
	if err != nil || imported != (Imported{Added: 4}) {
		t.Fatalf("%+v, %v", imported, err)
	}
	if again := export(t, second); again != text {
		t.Errorf("exported\n%s\nimported and exported\n%s", text, again)
	}
	if imported, err := second.Import(strings.NewReader(text), "answers.jsonl"); err != nil || imported != (Imported{Kept: 4}) {
		t.Errorf("once more: %+v, %v", imported, err)
	}
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
			s := open(t, Options{FS: vfs.NewMem()})
			defer closed(t, s)
			commit(t, s, request, sound(noon))
			got, err := s.Import(strings.NewReader(tt.lines), "answers.jsonl")
			if err != nil || got != tt.want {
				t.Errorf("%+v, %v", got, err)
			}
			if left := export(t, s); left != tt.left {
				t.Errorf("left\n%s", left)
			}
		})
	}
}

func TestImportReplacesADamagedAnswer(t *testing.T) {
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	if err := s.db.Set(appendKey(nil, s.options.Source, request), []byte("damaged"), pebble.Sync); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Import(strings.NewReader(exportedLine), "-"); err != nil || got.Added != 1 {
		t.Errorf("%+v, %v", got, err)
	}
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
			s := open(t, Options{FS: vfs.NewMem()})
			defer closed(t, s)
			got, err := s.Import(strings.NewReader(exportedLine+"\n"+bad+exportedLine), "answers.jsonl")
			var malformed *ImportError
			if !errors.As(err, &malformed) || malformed.Line != 3 || !strings.HasPrefix(err.Error(), "answers.jsonl:3: ") || !strings.Contains(malformed.Err.Error(), tt.says) {
				t.Errorf("got %v", err)
			}
			if got != (Imported{Added: 1}) || export(t, s) != exportedLine {
				t.Errorf("those before: %+v", got)
			}
		})
	}
}

func TestImportTellsOfAReadError(t *testing.T) {
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	broken := errors.New("broken pipe")
	for _, begun := range []string{"", exportedLine[:20]} {
		got, err := s.Import(io.MultiReader(strings.NewReader(exportedLine+begun), iotestErr{broken}), "-")
		var malformed *ImportError
		if !errors.Is(err, broken) || errors.As(err, &malformed) || got.Added+got.Kept != 1 {
			t.Errorf("after %q: %+v, %v", begun, got, err)
		}
	}
}

type iotestErr struct{ err error }

func (r iotestErr) Read([]byte) (int, error) { return 0, r.err }

func TestStats(t *testing.T) {
	files := vfs.NewMem()
	s := open(t, Options{FS: files})
	fill(t, s)
	if err := s.move(); err != nil {
		t.Fatal(err)
	}
	commit(t, s, spread(1), spreadAnswer(1))
	if err := errors.Join(s.move(), s.Close()); err != nil {
		t.Fatal(err)
	}
	contents := readStore(t, files)
	name := theSegment(t, contents)
	contents[name] = flip(contents[name], len(contents[name])-1)
	s = open(t, Options{FS: lay(t, contents), ReadOnly: true})
	defer closed(t, s)
	got, err := s.Stats()
	if err != nil {
		t.Fatal(err)
	}
	const api = "https://api.example.com"
	want := []Group{
		{api, client.Website, client.NAICS, 1, 0, noon.Add(time.Hour), noon.Add(time.Hour)},
		{api, client.Website, client.TaxonomyV3, 1, 1, noon, noon},
		{"https://other.example.com", client.Product, client.CustomPrefix + "pets", 1, 0, noon.Add(-time.Hour), noon.Add(-time.Hour)},
	}
	if !reflect.DeepEqual(got.Groups, want) || got.Damaged != 1 || got.Bytes < 500 {
		t.Errorf("got %+v", got)
	}
}

func TestMissingStoreIsNotMade(t *testing.T) {
	for _, options := range []Options{{MustExist: true}, {ReadOnly: true}} {
		files := vfs.NewMem()
		options.Dir, options.FS = "store", files
		_, err := Open(options)
		var missing *MissingError
		if !errors.As(err, &missing) || missing.Dir != "store" {
			t.Errorf("got %v", err)
		}
		if names, err := files.List("."); err == nil && len(names) > 0 {
			t.Errorf("made %v", names)
		}
	}
}

func FuzzParseLine(f *testing.F) {
	f.Add([]byte(exportedLine))
	f.Add([]byte(strings.Replace(exportedLine, `{"taxonomy_v3":[{"value":"A > B","confidence":0.5}]}`, `[]`, 1)))
	f.Add([]byte(`{"source":"s","kind":"product","classification":"product_taxonomy","input":"x","outcome":"rejection","status":404,"answered_at":"2026-03-01T12:00:00+02:00","body":"gone"}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		source, r, o, err := parseLine(text)
		if err != nil {
			return
		}
		key := appendKey(nil, source, r)
		if gotSource, got, ok := parseKey(key); !ok || gotSource != source || got != r {
			t.Fatalf("key %q: %q, %+v, %t", key, gotSource, got, ok)
		}
		value := appendValue(nil, key, o)
		if _, err := parseValue(key, value, r.Classification); err != nil {
			t.Fatalf("imports a damaged value: %v", err)
		}
	})
}

func TestCompactingIsInterrupted(t *testing.T) {
	s := open(t, Options{FS: vfs.NewMem()})
	defer closed(t, s)
	fill(t, s)
	want := errors.New("received interrupt")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(want)
	if err := s.Compact(ctx); err != want {
		t.Errorf("got %v", err)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Errorf("after it: %v", err)
	}
}
