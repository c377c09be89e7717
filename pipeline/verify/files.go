package verify

import (
	"context"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// part is a file of the output: the file itself, or a file in its folder.
type part struct {
	readback.Part
	want   account.Output // the account's entry; zero without an account
	sha256 string         // "" if the file is missing
	same   bool           // the file is the one that the run writes
	found  bool           // there is a finding about a record, or the file is missing
}

// find adds a finding about a record, unless the part has one: the first record tells the most.
func (v *verification) find(p *part, record int64, what, expected, got string) {
	if !p.found {
		p.found = true
		v.add(Finding{File: p.Path, Record: record, What: what, Expected: expected, Got: got})
	}
}

// findParts finds the files of the output, in the order of their records. Missing and unexpected files, and other bytes than those
// of the account, are findings.
func (v *verification) findParts(ctx context.Context) (err error) {
	if v.folder, err = storage.IsFolder(ctx, v.path); err != nil {
		return err
	}
	a, there, wanted := v.account, []readback.Part(nil), []account.Output(nil)
	switch {
	case v.folder:
		there, err = v.list(ctx, v.path, false)
	case a != nil:
		there, err = readback.List(ctx, v.path, &a.Settings)
	default:
		if there, err = readback.List(ctx, v.path, nil); err != nil {
			err = fmt.Errorf("without an account: %w", err)
		}
	}
	if err != nil {
		return err
	}
	if a != nil {
		wanted = a.Outputs
	} else {
		for _, p := range there {
			wanted = append(wanted, account.Output{Path: p.Path})
		}
	}
	for _, want := range wanted {
		p := &part{Part: readback.Part{Path: v.path}, want: want}
		if v.folder {
			p.Path = disk.Join(v.path, filepath.Base(want.Path))
		}
		v.parts = append(v.parts, p)
		i := slices.IndexFunc(there, func(file readback.Part) bool { return file.Path == p.Path })
		if p.found = i < 0; p.found {
			v.missing(p.Path)
			continue
		}
		p.Part = there[i]
		there = slices.Delete(there, i, i+1)
		size, sum, err := storage.Digest(ctx, p.Path)
		if err != nil {
			return err
		}
		p.sha256, v.Files, v.Bytes = sum, v.Files+1, v.Bytes+size
		if a != nil {
			p.Escaped = a.Settings.EscapeFormulas
			expect(v.Report, p.Path, "bytes", want.Bytes, size)
			expect(v.Report, p.Path, "sha256", want.SHA256, sum)
		}
	}
	for _, p := range there {
		v.unexpected(p.Path)
	}
	if len(v.parts) == 0 { // as of a file that is missing
		v.parts = []*part{{found: true}}
	}
	if !v.folder || a == nil || a.Ending != account.Complete {
		return nil
	}
	problem, err := runfiles.CheckManifest(ctx, v.path, a)
	if problem != "" { // the run, started again, would not find its parts
		v.add(Finding{File: runfiles.ManifestPath(v.path), What: "manifest", Expected: "the one of the run", Got: "it " + problem})
	}
	return err
}

// list returns the parts in a folder, or in the folder of all shards. Other files, and a missing _SUCCESS unless the folder may
// be unfinished, are findings.
func (r *Report) list(ctx context.Context, path string, unfinished bool) ([]readback.Part, error) {
	folder, err := readback.ListFolder(ctx, path)
	if err != nil {
		return nil, err
	}
	for _, other := range folder.Others {
		r.unexpected(other)
	}
	success := runfiles.SuccessPath(path)
	if found, err := storage.Exists(ctx, success); err != nil {
		return nil, err
	} else if !found && !unfinished {
		r.missing(success)
	}
	return folder.Parts, nil
}

// nowhere is the storage of files that are only hashed, and a draft of such a file.
type nowhere struct{ io.Writer }

func (nowhere) Prepare(context.Context, string, bool) error             { return nil }
func (nowhere) RemoveDrafts(context.Context, string, func(string) bool) {}
func (nowhere) ReadDir(context.Context, string) ([]string, error)       { return nil, nil }
func (nowhere) Remove(context.Context, string) error                    { return nil }
func (nowhere) Create(context.Context, string) (disk.Draft, error)      { return nowhere{io.Discard}, nil }
func (nowhere) Publish(int64) error                                     { return nil }
func (nowhere) Discard() error                                          { return nil }

// hash opens a sink that hashes. Each part of a folder ends with the last record of the part in the account.
func (v *verification) hash(ctx context.Context, schema writer.Schema) (writer.Sink, error) {
	a := v.account
	o := writer.Options{
		Storage: nowhere{}, Path: v.path, Format: writer.Format(a.Settings.OutputFormat), Schema: schema,
		Folder: v.folder, PartRows: math.MaxInt64, Metadata: output.Metadata(a.Settings),
	}
	if len(a.Outputs) > 0 && !v.folder {
		o.Path = a.Outputs[0].Path // its extension may say how the file is compressed
	}
	for _, out := range a.Outputs {
		o.Ends = append(o.Ends, out.LastRecord)
	}
	return writer.Open(ctx, o)
}

// matchFiles finds the files that are those that the run writes. It reports whether all are.
func (v *verification) matchFiles() (same bool) {
	same = true
	for i, p := range v.parts {
		if i < len(v.again.Files) && v.again.Files[i].SHA256 == p.sha256 {
			p.same = true
			want, got := p.want, v.again.Files[i]
			expect(v.Report, p.Path, "rows, first and last record, by the account", [3]int64{want.Rows, want.FirstRecord, want.LastRecord}, [3]int64{got.Rows, got.FirstRecord, got.LastRecord})
		}
		same = same && p.same
	}
	return same
}
