package output

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

func TestDigestTellsEveryChange(t *testing.T) {
	h := xxhash.New()
	of := func(records ...reader.Record) (d Digest) {
		for _, r := range records {
			d = d.Next(h, &r)
		}
		return d
	}
	a, b := reader.Record{Input: "a", Fields: []string{"x", "y"}}, reader.Record{Input: "b"}
	base := of(a, b)
	if again := of(a, b); again != base {
		t.Errorf("the same records have the digests %v and %v", base, again)
	}
	for name, other := range map[string]Digest{
		"order":              of(b, a),
		"input":              of(reader.Record{Input: "A", Fields: a.Fields}, b),
		"field":              of(reader.Record{Input: "a", Fields: []string{"x", "z"}}, b),
		"where a field ends": of(reader.Record{Input: "a", Fields: []string{"xy", ""}}, b),
		"malformed":          of(reader.Record{Input: "a", Fields: a.Fields, Err: &reader.RowError{}}, b),
		"one less":           of(a),
	} {
		if other == base {
			t.Errorf("another %s has the same digest", name)
		}
	}
}

func openFolder(t *testing.T, path string, a *account.Account, overwrite bool, keeps func(account.Statuses) bool) (*Folder, error) {
	o := Options{Path: path, Overwrite: overwrite}
	return o.OpenFolder(t.Context(), a, keeps)
}

// publish writes parts of one row a record into a folder. All
// records are ok, unless others says otherwise.
func publish(t *testing.T, folder string, a *account.Account, parts []int64, others ...RecordEnd) {
	t.Helper()
	m, err := openFolder(t, folder, a, true, nil)
	if err != nil {
		t.Fatal(err)
	}
	first := int64(1)
	for i, rows := range parts {
		name := filepath.Join(folder, string(rune('a'+i)))
		if err := disk.PublishFile(name, []byte(name)); err != nil {
			t.Fatal(err)
		}
		for r := first; r < first+rows; r++ {
			k := RecordEnd{Record: r, Digest: Digest(r), Status: writer.StatusOK}
			if i := slices.IndexFunc(others, func(k RecordEnd) bool { return k.Record == r }); i >= 0 {
				k.Status = others[i].Status
			}
			m.Expect([]RecordEnd{k})
		}
		sum, size := fileSum(t, name)
		if err := m.addPart(writer.File{Path: name, Bytes: size, SHA256: sum, Rows: rows, FirstRecord: first, LastRecord: first + rows - 1}); err != nil {
			t.Fatal(err)
		}
		first += rows
	}
}

func TestFolderKeepsWholePartsFromTheBeginning(t *testing.T) {
	a := account.NewAccount("dev", "http://service", account.Settings{Kind: "product", PartRows: 10})
	for _, tt := range []struct {
		name   string
		damage func(folder string) error
		parts  []int64
		kept   int
	}{
		{"all", nil, []int64{10, 10, 11}, 3},
		{"the last is short", nil, []int64{10, 10, 4}, 2},
		{"none", nil, nil, 0},
		{"one is missing", func(f string) error { return os.Remove(filepath.Join(f, "b")) }, []int64{10, 10, 10}, 1},
		{"one is altered", func(f string) error { return os.WriteFile(filepath.Join(f, "a"), []byte("x"), 0o666) }, []int64{10, 10, 10}, 0},
		{"one is cut", func(f string) error { return os.Truncate(filepath.Join(f, "c"), 1) }, []int64{10, 10, 10}, 2},
	} {
		t.Run(tt.name, func(t *testing.T) {
			folder := t.TempDir()
			publish(t, folder, a, tt.parts)
			if tt.damage != nil {
				if err := tt.damage(folder); err != nil {
					t.Fatal(err)
				}
			}
			m, err := openFolder(t, folder, a, false, nil)
			if err != nil || len(m.keptFiles()) != tt.kept {
				t.Fatalf("%d parts are kept, want %d (%v)", len(m.keptFiles()), tt.kept, err)
			}
			var c progress.Counters
			if m.Count(&c); c.OK.Load() != m.KeptRecords() || c.Written.Load() != m.KeptRecords() {
				t.Errorf("%d records count as ok of %d", c.OK.Load(), m.KeptRecords())
			}
		})
	}
}

// Parts are kept only if the next run would give all their records the same status.
func TestFolderKeepsSettledParts(t *testing.T) {
	a := account.NewAccount("dev", "http://service", account.Settings{Kind: "product", PartRows: 2})
	noneRejected := func(s account.Statuses) bool { return s.Rejected == 0 }
	for _, tt := range []struct {
		status  writer.Status // of the first record of the second part
		settled func(account.Statuses) bool
		kept    int
	}{
		{writer.StatusOK, nil, 3},
		{writer.StatusEmpty, nil, 3},
		{writer.StatusInvalid, nil, 3},
		{writer.StatusFailed, nil, 1},
		{writer.StatusPending, nil, 1},
		{writer.StatusRejected, nil, 3},
		{writer.StatusRejected, noneRejected, 1},
		{writer.StatusOK, func(account.Statuses) bool { return false }, 0},
	} {
		folder := t.TempDir()
		publish(t, folder, a, []int64{2, 2, 2}, RecordEnd{Record: 3, Status: tt.status})
		m, err := openFolder(t, folder, a, false, tt.settled)
		if err != nil || len(m.keptFiles()) != tt.kept {
			t.Errorf("%s: %d parts are kept, want %d (%v)", tt.status, len(m.keptFiles()), tt.kept, err)
		}
	}
}

// A part has all its records, however they are divided into calls. Of the records before the last call only
// the sum is held.
func TestFolderCountsRecordsOfParts(t *testing.T) {
	a := account.NewAccount("dev", "http://service", account.Settings{Kind: "product", PartRows: 1000})
	m, err := openFolder(t, t.TempDir(), a, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	for record := int64(1); record <= 1000; record += 10 {
		var list []RecordEnd
		for r := record; r < record+10; r++ {
			list = append(list, RecordEnd{Record: r, Digest: Digest(r), Status: writer.StatusOK})
		}
		if m.Expect(list); len(m.written) > len(list) {
			t.Fatalf("%d records are held", len(m.written))
		}
		if record == 501 { // ends between two records of the last ones given
			if err := m.addPart(writer.File{Path: "a", LastRecord: 504}); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := m.addPart(writer.File{Path: "b", LastRecord: 1000}); err != nil {
		t.Fatal(err)
	}
	for i, want := range []account.PublishedPart{{Digest: Digest(504).String()}, {Digest: Digest(1000).String()}} {
		want.Statuses.OK = []int64{504, 496}[i]
		if got := m.manifest.Parts[i]; got.Digest != want.Digest || got.Statuses != want.Statuses {
			t.Errorf("part %d: got %+v, want %+v", i, got, want)
		}
	}
}

func TestFolderRefuses(t *testing.T) {
	a := account.NewAccount("dev", "http://service", account.Settings{Kind: "product", PartRows: 10})
	folder := t.TempDir()
	publish(t, folder, a, []int64{10, 10})

	other := account.NewAccount("dev", "http://service", account.Settings{Kind: "website", PartRows: 10})
	var taken *TakenError
	if _, err := openFolder(t, folder, other, false, nil); !errors.As(err, &taken) {
		t.Errorf("other settings: got %v", err)
	}
	if m, err := openFolder(t, folder, other, true, nil); err != nil || len(m.keptFiles()) != 0 {
		t.Errorf("overwrite: got %v", err)
	}
	m, err := openFolder(t, folder, a, false, nil)
	if err != nil {
		t.Fatal(err)
	}
	var changed *InputChangedError
	if err := m.Check(10, Digest(10)); err != nil {
		t.Errorf("the same input: got %v", err)
	}
	if err := m.Check(20, Digest(21)); !errors.As(err, &changed) {
		t.Errorf("a changed input: got %v", err)
	}
	if err := m.CheckEnd(19); !errors.As(err, &changed) {
		t.Errorf("a shorter input: got %v", err)
	}
	if err := m.CheckEnd(20); err != nil {
		t.Errorf("an input of the same length: got %v", err)
	}
	if err := os.WriteFile(runfiles.ManifestPath(folder), []byte("{"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := openFolder(t, folder, a, false, nil); !errors.As(err, &taken) {
		t.Errorf("damaged: got %v", err)
	}
}

func fileSum(t *testing.T, path string) (string, int64) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), int64(len(text))
}
