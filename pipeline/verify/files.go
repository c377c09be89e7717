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

// part is a file of the output.
type part struct {
	readback.Part
	want   *account.Output // the account's entry; nil for none
	sha256 string
	again  writer.File // the file that the run writes; zero if the run was not written again

	reading
}

// isSame reports whether the file is the one that the run writes.
func (p *part) isSame() bool { return p.sha256 == p.again.SHA256 }

// find finds the files of the output, in the order of their records, and adds findings for missing and unexpected files.
func (v *verification) find(ctx context.Context) (err error) {
	if v.folder, err = storage.IsFolder(ctx, v.path); err != nil {
		return err
	}
	list := []readback.Part{{Path: v.path}}
	if v.folder {
		if list, err = v.listFolder(ctx); err != nil {
			return err
		}
	} else if v.account != nil {
		list[0].Format = writer.Format(v.account.Settings.OutputFormat)
	} else if list[0].Format, err = readback.FormatOf(v.path); err != nil {
		return fmt.Errorf("without an account: %w", err)
	}
	for _, p := range list {
		p.Escaped = v.account != nil && v.account.Settings.EscapeFormulas
		v.parts = append(v.parts, &part{Part: p})
	}
	if v.account != nil {
		v.matchParts()
	}
	for _, p := range v.parts {
		size, sum, err := storage.Digest(ctx, p.Path)
		if err != nil {
			return err
		}
		p.sha256, v.Files, v.Bytes = sum, v.Files+1, v.Bytes+size
		if p.want != nil {
			expect(v.report, p.Path, "bytes", p.want.Bytes, size)
			expect(v.report, p.Path, "sha256", p.want.SHA256, sum)
		}
	}
	return nil
}

func (v *verification) listFolder(ctx context.Context) ([]readback.Part, error) {
	folder, err := readback.ListFolder(ctx, v.path)
	if err != nil {
		return nil, err
	}
	v.report.addFiles(folder.Others, "only parts")
	if !folder.Complete {
		v.report.add(Finding{File: runfiles.SuccessPath(v.path), What: "file", Expected: "one that says that the folder is complete", Got: "none"})
	}
	if v.account == nil || v.account.Ending != account.Complete {
		return folder.Parts, nil
	}
	problem, err := runfiles.CheckManifest(ctx, v.path, v.account)
	if problem != "" { // the run, started again, would not find its parts
		v.report.add(Finding{File: runfiles.ManifestPath(v.path), What: "manifest", Expected: "the one of the run", Got: "it " + problem})
	}
	return folder.Parts, err
}

// matchParts finds the account's entry of each file.
func (v *verification) matchParts() {
	if !v.folder {
		expect(v.report, v.path, "files of the account", 1, len(v.account.Outputs))
	}
	for i := range v.account.Outputs {
		want := &v.account.Outputs[i]
		name := filepath.Base(want.Path)
		if at := slices.IndexFunc(v.parts, func(p *part) bool { return !v.folder || filepath.Base(p.Path) == name }); at >= 0 {
			v.parts[at].want = want
			continue
		}
		v.report.add(Finding{File: disk.Join(v.path, name), What: "part", Expected: "the one of the account", Got: "none"})
	}
	for _, p := range v.parts {
		if p.want == nil && v.folder {
			v.report.add(Finding{File: p.Path, What: "part", Expected: "none, by the account", Got: "one"})
		}
	}
}

// partAt returns the file that the run has written to path; nil if the file is missing. The output may have been renamed since.
func (v *verification) partAt(path string) *part {
	for _, p := range v.parts {
		if p.want != nil && filepath.Base(p.want.Path) == filepath.Base(path) {
			return p
		}
	}
	return nil
}

// hashing is a storage and a sink for the run that is written again. The files are only hashed.
type hashing struct {
	writer.Sink
	*verification
}

func (*hashing) Prepare(context.Context, string, bool) error             { return nil }
func (*hashing) RemoveDrafts(context.Context, string, func(string) bool) {}
func (*hashing) ReadDir(context.Context, string) ([]string, error)       { return nil, nil }
func (*hashing) Remove(context.Context, string) error                    { return nil }
func (*hashing) Create(context.Context, string) (disk.Draft, error) {
	return nowhere{io.Discard}, nil
}

// nowhere is a draft that is written nowhere.
type nowhere struct{ io.Writer }

func (nowhere) Publish(int64) error { return nil }
func (nowhere) Discard() error      { return nil }

// hash opens a sink that hashes. Each part of a folder ends with the last record of the part in the account.
func (v *verification) hash(ctx context.Context, schema writer.Schema) (_ writer.Sink, err error) {
	a, h := v.account, &hashing{verification: v}
	o := writer.Options{
		Storage: h, Path: v.path, Format: writer.Format(a.Settings.OutputFormat), Schema: schema,
		Folder: v.folder, PartRows: math.MaxInt64, Metadata: output.Metadata(a.Settings),
	}
	if len(a.Outputs) > 0 && !v.folder {
		o.Path = a.Outputs[0].Path // its extension may say how the file is compressed
	}
	for _, out := range a.Outputs {
		o.Ends = append(o.Ends, out.LastRecord)
	}
	h.Sink, err = writer.Open(ctx, o)
	return h, err
}

// Close notes the files that the run writes.
func (h *hashing) Close() (writer.Published, error) {
	published, err := h.Sink.Close()
	for _, file := range published.Files {
		p := h.partAt(file.Path)
		if p == nil {
			continue
		}
		if p.again = file; p.isSame() {
			expect(h.report, p.Path, "rows, by the account", p.want.Rows, file.Rows)
			expect(h.report, p.Path, "first record, by the account", p.want.FirstRecord, file.FirstRecord)
			expect(h.report, p.Path, "last record, by the account", p.want.LastRecord, file.LastRecord)
		}
	}
	return published, err
}
