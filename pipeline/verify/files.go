package verify

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/readback"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// part is a file of the output.
type part struct {
	readback.Part
	want   *record.Output // the account's entry; nil for none
	bytes  int64
	sha256 string
	again  writer.File // the file that the run writes; zero if the run was not written again
}

// isSame reports whether the file is the one that the run writes.
func (p *part) isSame() bool { return p.sha256 == p.again.SHA256 }

// find finds the files of the output, in the order of their records, and adds findings for missing and unexpected ones.
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
	} else if list[0].Format, err = writer.FormatOf(v.path); err != nil {
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
		if err := p.digest(ctx); err != nil {
			return err
		}
		v.report.Files++
		v.report.Bytes += p.bytes
		if p.want != nil {
			expect(&v.report, p.Path, "bytes", p.want.Bytes, p.bytes)
			expect(&v.report, p.Path, "sha256", p.want.SHA256, p.sha256)
		}
	}
	return nil
}

func (v *verification) listFolder(ctx context.Context) ([]readback.Part, error) {
	folder, err := readback.ListFolder(ctx, v.path)
	if err != nil {
		return nil, err
	}
	for _, path := range folder.Others {
		v.report.add(Finding{File: path, What: "file", Expected: "only parts", Got: "another"})
	}
	if !folder.Complete {
		v.report.add(Finding{File: writer.Join(v.path, readback.SuccessName), What: "file", Expected: "one that says that the folder is complete", Got: "none"})
	}
	if v.account == nil || v.account.Ending != record.Complete {
		return folder.Parts, nil
	}
	problem, err := v.account.CheckManifest(ctx, v.path)
	if problem != "" { // the run, started again, would not find its parts
		v.report.add(Finding{File: record.ManifestPath(v.path), What: "manifest", Expected: "the one of the run", Got: "it " + problem})
	}
	return folder.Parts, err
}

// matchParts finds the entries of the files in the account.
func (v *verification) matchParts() {
	if !v.folder {
		expect(&v.report, v.path, "files of the account", 1, len(v.account.Outputs))
	}
	for i := range v.account.Outputs {
		want := &v.account.Outputs[i]
		name := filepath.Base(want.Name)
		if at := slices.IndexFunc(v.parts, func(p *part) bool { return !v.folder || filepath.Base(p.Path) == name }); at >= 0 {
			v.parts[at].want = want
			continue
		}
		v.report.add(Finding{File: writer.Join(v.path, name), What: "part", Expected: "the one of the account", Got: "none"})
	}
	for _, p := range v.parts {
		if p.want == nil && v.folder {
			v.report.add(Finding{File: p.Path, What: "part", Expected: "none, by the account", Got: "one"})
		}
	}
}

// digest finds the size and the SHA-256 of the file.
func (p *part) digest(ctx context.Context) error {
	f, err := storage.Open(ctx, p.Path)
	if err != nil {
		return err
	}
	defer f.Close() // only read from
	sum := sha256.New()
	p.bytes, err = io.Copy(sum, withContext{ctx, f})
	p.sha256 = hex.EncodeToString(sum.Sum(nil))
	return err
}

// withContext is a reader that fails once the context is done: a large file takes minutes.
type withContext struct {
	ctx context.Context
	io.Reader
}

func (r withContext) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// files is a storage for the run that is written again. Files are only hashed, by the sink, unless temp is set: then those
// that differ from the file that is there are temporary files, which are compared row by row when they are whole.
type files struct {
	*comparison
	temp string // a folder; "" in the first pass
}

func (*files) Prepare(context.Context, string, bool) error             { return nil }
func (*files) RemoveDrafts(context.Context, string, func(string) bool) {}
func (*files) ReadDir(context.Context, string) ([]string, error)       { return nil, nil }
func (*files) Remove(context.Context, string) error                    { return nil }

func (f *files) Create(_ context.Context, path string) (writer.Draft, error) {
	p := f.partAt(path)
	if f.temp == "" || p == nil || p.isSame() {
		return hashed{io.Discard}, nil
	}
	temp, err := os.CreateTemp(f.temp, "*")
	return &draft{temp, f, p}, err
}

// partAt is the file that the run writes to a path; nil if there is none. The output may have another name by now.
func (v *verification) partAt(path string) *part {
	for _, p := range v.parts {
		if p.want != nil && filepath.Base(p.want.Name) == filepath.Base(path) {
			return p
		}
	}
	return nil
}

// hashed is a draft that is written nowhere.
type hashed struct{ io.Writer }

func (hashed) Publish(int64) error { return nil }
func (hashed) Discard() error      { return nil }

// draft is a temporary file.
type draft struct {
	*os.File
	files *files
	part  *part
}

func (d *draft) Publish(int64) error {
	if err := d.files.compare(d.part, d.Name()); err != nil {
		return err
	}
	return d.Discard()
}

func (d *draft) Discard() error { _ = d.Close(); return os.Remove(d.Name()) }

// open opens the sink of the run that is written again. The parts of a folder end where those of the account do.
func (f *files) open(ctx context.Context, schema writer.Schema) (writer.Sink, error) {
	a := f.account
	o := writer.Options{
		Context: ctx, Storage: f, Path: f.path, Format: writer.Format(a.Settings.OutputFormat), Schema: schema,
		Folder: f.folder, PartRows: math.MaxInt64, Metadata: a.Settings.Metadata(),
	}
	if len(a.Outputs) > 0 && !f.folder {
		o.Path = a.Outputs[0].Name // whose extension may say how it is compressed
	}
	for _, out := range a.Outputs {
		o.Ends = append(o.Ends, out.LastRecord)
	}
	sink, err := writer.Open(o)
	return &sinkOfFiles{sink, f}, err
}

// sinkOfFiles also notes the files that the run writes, and which answers may be others than those of the run.
type sinkOfFiles struct {
	writer.Sink
	files *files
}

func (s *sinkOfFiles) Write(rows []writer.Row) error {
	if s.files.temp != "" {
		s.files.note(rows)
	}
	return s.Sink.Write(rows)
}

func (s *sinkOfFiles) Close() (writer.Published, error) {
	published, err := s.Sink.Close()
	for _, file := range published.Files {
		p := s.files.partAt(file.Path)
		if p == nil || s.files.temp != "" {
			continue
		}
		if p.again = file; p.isSame() {
			expect(&s.files.report, p.Path, "rows, by the account", p.want.Rows, file.Rows)
			expect(&s.files.report, p.Path, "first record, by the account", p.want.FirstRecord, file.FirstRecord)
			expect(&s.files.report, p.Path, "last record, by the account", p.want.LastRecord, file.LastRecord)
		}
	}
	return published, err
}
