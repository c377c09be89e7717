package output

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Folder is the folder of parts that a run writes. The methods of a nil Folder do nothing: the output is not a folder.
type Folder struct {
	ctx      context.Context // for calls of the storage
	path     string
	manifest *account.Manifest
	full     []int64                 // last records of the full parts in the earlier manifest
	kept     []account.PublishedPart // parts of an earlier start that are kept; the first parts of manifest
	before   []account.PublishedPart // parts of the earlier manifest that are written again, and not compared yet
	fewer    func(before, outcomes, pending int64) error
	statuses account.Statuses // of the records after the kept parts, as far as announced
	stale    bool             // the earlier manifest has parts that are not kept
	shards   string           // the folder of all shards, for a shard
	replaced int64            // outcomes of the parts of before that were compared

	open    account.PublishedPart // the part that is being written, without the records in written
	written []RecordEnd           // the records that were announced last, in order
}

// RecordEnd has the facts about a record that the manifest needs.
type RecordEnd struct {
	Record  int64
	Digest  Digest
	Status  writer.Status
	Misfits int64
	Free    bool // a model answered the record for free
}

// InputChangedError says that the input has changed since the kept parts were written.
type InputChangedError struct {
	Part string // the first kept part whose records have changed
	Kept int    // number of kept parts before Part, which still match the input
}

func (e *InputChangedError) Error() string {
	return fmt.Sprintf("the input has changed since %s was written", e.Part)
}

// OpenFolder reads the manifest of the output folder and decides which parts of an earlier start to keep. It returns nil if the
// output is not a folder.
//
// OpenFolder keeps parts from the first on, as long as they are full, unchanged since they were published, and settled. A
// part is settled if none of its records is failed or pending, and keeps, if not nil, returns true for its statuses; keeps is
// called for the parts in order. The last part of a run is not full: it is written again, because more records may follow.
// OpenFolder keeps no part if the carried columns or their types have changed, because all parts must have the same columns, or
// if a model now answers other requests for free.
//
// A folder without a manifest gets a new manifest; with Overwrite, every folder does. The error is a *[TakenError] if the
// manifest is damaged, or if its run had other settings than a.
func (o *Options) OpenFolder(ctx context.Context, a *account.Account, keeps func(account.Statuses) bool) (*Folder, error) {
	if !o.IsFolder() {
		return nil, nil
	}
	f := &Folder{ctx: ctx, path: disk.Clean(o.Path), manifest: account.NewManifest(a)}
	if a.Settings.Shard != (account.Shard{}) {
		f.shards, _ = disk.Split(f.path)
	}
	last, err := runfiles.ReadManifest(ctx, f.path)
	if errors.Is(err, fs.ErrNotExist) || o.Overwrite {
		return f, nil
	}
	if damaged, ok := errors.AsType[*account.DamagedError](err); ok {
		return nil, &TakenError{Path: f.path, Reason: damaged.Describe("manifest")}
	}
	if err != nil {
		return nil, err
	}
	if err := takenBy(a, last.Service, last.Settings, f.path); err != nil {
		return nil, err
	}
	f.manifest.Ends, f.full, f.before, f.fewer = last.Ends, last.LastRecords(), last.Parts, o.CheckFewer
	if !slices.Equal(last.Carried, f.manifest.Carried) || last.Free != f.manifest.Free {
		last.Parts = nil
	}
	for i, part := range last.Parts {
		part.Path = disk.Join(f.path, filepath.Base(part.Path)) // the folder may have been renamed
		if i >= len(f.full) || !part.Statuses.Settled(keeps) || !isIntact(ctx, part.Path, part.Output) {
			break
		}
		f.manifest.Parts = append(f.manifest.Parts, part)
	}
	f.kept = slices.Clone(f.manifest.Parts)
	f.before = f.before[len(f.kept):]
	f.stale = len(f.before) > 0
	return f, nil
}

// KeepEnds makes the parts end at the same records as before, whatever their number of rows. So a part with unchanged rows
// keeps its bytes.
func (f *Folder) KeepEnds() {
	if f != nil {
		f.manifest.Ends = f.full
	}
}

// change prepares the folder for its first change: the folder of its shards is no longer complete, and the manifest has the
// kept parts only.
func (f *Folder) change() error {
	if f == nil {
		return nil
	}
	if f.shards != "" {
		if err := storage.Remove(f.ctx, runfiles.SuccessPath(f.shards)); err != nil {
			return err
		}
	}
	if !f.stale {
		return nil
	}
	return runfiles.Write(f.ctx, runfiles.ManifestPath(f.path), f.manifest)
}

// hasManifest reports whether a folder has a manifest.
func hasManifest(ctx context.Context, folder string) bool {
	found, err := storage.Exists(ctx, runfiles.ManifestPath(folder))
	return found && err == nil
}

// isIntact reports whether the file at path is as it was published.
func isIntact(ctx context.Context, path string, o account.Output) bool {
	size, sum, err := storage.Digest(ctx, path)
	return err == nil && size == o.Bytes && sum == o.SHA256
}

// IsIntact reports whether the output consists of the files of an account, byte for byte. It reads the files.
func (o *Options) IsIntact(ctx context.Context, rows *account.Account) bool {
	path := disk.Clean(o.Path)
	if !o.IsFolder() {
		return len(rows.Outputs) == 1 && isIntact(ctx, path, rows.Outputs[0])
	}
	parts, err := o.parts(ctx)
	return err == nil && parts == len(rows.Outputs) && !slices.ContainsFunc(rows.Outputs, func(part account.Output) bool {
		return !isIntact(ctx, disk.Join(path, filepath.Base(part.Path)), part)
	})
}

// parts returns the number of the parts in the folder.
func (o *Options) parts(ctx context.Context) (n int, err error) {
	names, err := storage.ReadDir(ctx, disk.Clean(o.Path))
	for _, name := range names {
		if _, _, isPart := writer.PartOf(name); isPart {
			n++
		}
	}
	return n, err
}

// Open opens the sink of the output. folder is nil unless the output is a folder. onChange is called before the output changes.
func (o *Options) Open(ctx context.Context, schema writer.Schema, metadata map[string]string, folder *Folder, onChange func(), check writer.CheckFunc) (writer.Sink, error) {
	format, err := o.FileFormat()
	if err != nil {
		return nil, err
	}
	options := writer.Options{
		Storage: storage.Of(ctx, o.Path), Path: o.Path, Format: format, Schema: schema,
		PartRows: o.PartRows, Metadata: metadata, Stdout: o.Stdout, Check: check,
		OnChange: func() error {
			onChange()
			return folder.change()
		},
	}
	if folder != nil {
		options.Folder, options.Kept, options.Ends, options.OnPart = true, folder.keptFiles(), folder.manifest.Ends, folder.addPart
	}
	return writer.Open(ctx, options)
}

// keptFiles returns the kept parts for the sink, which continues after them.
func (f *Folder) keptFiles() []writer.File {
	files := make([]writer.File, len(f.kept))
	for i, p := range f.kept {
		files[i] = writer.File(p.Output)
	}
	return files
}

// KeptRecords returns the number of the last record in the kept parts; 0 if no part is kept.
func (f *Folder) KeptRecords() int64 {
	if f == nil || len(f.kept) == 0 {
		return 0
	}
	return f.kept[len(f.kept)-1].LastRecord
}

// KeptStatuses returns the statuses of the records in the kept parts.
func (f *Folder) KeptStatuses() (all account.Statuses) {
	if f == nil {
		return all
	}
	for _, p := range f.kept {
		all.AddAll(p.Statuses)
	}
	return all
}

// Count adds the records of the kept parts to the counters.
func (f *Folder) Count(c *progress.Counters) {
	if f == nil {
		return
	}
	for _, p := range f.kept {
		settled := p.Statuses.Sum()
		records := settled / max(1, c.Classifications.Load())
		for _, status := range writer.Statuses {
			c.WithStatus(status).Add(*p.Statuses.WithStatus(status))
		}
		c.Misfits.Add(p.Misfits)
		c.Free.Add(p.Free)
		c.CountWritten(records, int(p.Rows))
		c.Kept.Add(records)
		c.LookedUp.Add(settled)
	}
}

// Check compares the input with the kept parts. number and d are the number and the digest of a record of the input. If the
// record is the last of a kept part and the digests differ, the error is an *[InputChangedError].
func (f *Folder) Check(number int64, d Digest) error {
	i, last := slices.BinarySearchFunc(f.kept, number, func(p account.PublishedPart, number int64) int { return cmp.Compare(p.LastRecord, number) })
	if last && f.kept[i].Digest != d.String() {
		return &InputChangedError{Part: f.kept[i].Path, Kept: i}
	}
	return nil
}

// CheckEnd returns an *[InputChangedError] if the input, with the given number of records, ends within the kept parts.
func (f *Folder) CheckEnd(records int64) error {
	for i, p := range f.kept {
		if records < p.LastRecord {
			return &InputChangedError{Part: p.Path, Kept: i}
		}
	}
	return nil
}

// Expect announces the records whose rows the sink gets next. Records that were announced before are then in the open part or
// in a published part. The error is a *[TakenError] if the records would replace parts that have more outcomes: see
// [Options.CheckFewer].
func (f *Folder) Expect(records []RecordEnd) error {
	if f == nil {
		return nil
	}
	addRecords(&f.open, f.written)
	f.written = append(f.written[:0], records...)
	for _, r := range records {
		for len(f.before) > 0 && r.Record > f.before[0].LastRecord {
			if err := f.replace(); err != nil {
				return err
			}
		}
		f.statuses.Add(r.Status)
	}
	return nil
}

// replace compares the outcomes of the earlier parts, up to the first of before, with those of the announced records, and
// removes that part from before.
func (f *Folder) replace() error {
	f.replaced += f.before[0].Statuses.Outcomes()
	f.before = f.before[1:]
	return f.fewer(f.replaced, f.statuses.Outcomes(), f.statuses.Pending)
}

// CheckLast compares the earlier parts that Expect has not compared, because no later record was announced. Call it after the
// last record. The error is that of Expect.
func (f *Folder) CheckLast() error {
	for f != nil && len(f.before) > 0 {
		if err := f.replace(); err != nil {
			return err
		}
	}
	return nil
}

// addRecords adds records to a part.
func addRecords(p *account.PublishedPart, records []RecordEnd) {
	for _, r := range records {
		p.Statuses.Add(r.Status)
		p.Misfits += r.Misfits
		if r.Free {
			p.Free++
		}
		p.Digest = r.Digest.String()
	}
}

// addPart adds a published part to the manifest, and writes the manifest. The sink calls it when a part is published.
func (f *Folder) addPart(file writer.File) error {
	n := 0
	for n < len(f.written) && f.written[n].Record <= file.LastRecord {
		n++
	}
	part := f.open
	part.Output = account.Output(file)
	addRecords(&part, f.written[:n])
	f.open, f.written = account.PublishedPart{}, append(f.written[:0], f.written[n:]...)
	f.manifest.Parts = append(f.manifest.Parts, part)
	return runfiles.Write(f.ctx, runfiles.ManifestPath(f.path), f.manifest)
}

// Digest is a hash of a record and all records before it. Two inputs with equal digests at a record are equal up to that
// record.
type Digest uint64

func (d Digest) String() string { return fmt.Sprintf("%016x", uint64(d)) }

// Next returns the digest at the next record, r. It uses h as its hash.
func (d Digest) Next(h *xxhash.Digest, r *reader.Record) Digest {
	h.Reset()
	var prefix [8]byte
	write := func(n uint64) {
		binary.LittleEndian.PutUint64(prefix[:], n)
		_, _ = h.Write(prefix[:]) // never fails
	}
	write(uint64(d))
	write(uint64(len(r.Input)))
	_, _ = h.WriteString(r.Input)
	for _, field := range r.Fields {
		write(uint64(len(field)))
		_, _ = h.WriteString(field)
	}
	for i, null := range r.Nulls {
		if null {
			write(uint64(i))
		}
	}
	if r.Err != nil {
		_, _ = h.WriteString(r.Err.Error())
	}
	return Digest(h.Sum64())
}
