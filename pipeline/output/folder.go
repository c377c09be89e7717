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

	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Folder is the folder of parts that a run writes. The methods of a nil Folder do nothing: the output is no folder.
type Folder struct {
	ctx      context.Context // of the calls of the storage
	path     string
	manifest *record.Manifest
	full     []int64                // last records of the full parts of an earlier run
	kept     []record.PublishedPart // of an earlier run, the first of the manifest
	before   []record.PublishedPart // that are written again
	fewer    func(before, outcomes, pending int64) error
	statuses record.Statuses // of the records that the sink was given, since the kept parts
	replaced int64           // outcomes of the parts before that these records reach beyond

	open    record.PublishedPart // the part that is being written, without the records of written
	written []RecordEnd          // of the records that the sink was given last, in order
}

// RecordEnd is the state of the run at the end of a record, for the manifest.
type RecordEnd struct {
	Record  int64
	Digest  Digest
	Status  writer.Status
	Misfits int64
	Free    bool // a model has answered for nothing
}

// InputChangedError says that the records of the input are not those that the kept parts were written
// from.
type InputChangedError struct {
	Part string // the first kept part in which the input has changed
	Kept int    // of the kept parts, those before, which are as the input is
}

func (e *InputChangedError) Error() string {
	return fmt.Sprintf("the input has changed since %s was written", e.Part)
}

// OpenFolder reads the manifest of the output, for a run with the settings of account, and finds the parts
// to keep: the first parts that are full, as they were published, and of records that are settled. A
// record is settled if it is neither failed nor pending, and keeps agrees, which is called for each part in order; keeps may
// be nil. The last part
// of a run is not full and is written again, because more records may follow. A folder without a manifest
// gets a new one, and with Overwrite so does a folder of another run. No part is kept if the carried columns or
// their types have changed with the input, so that all parts have the same columns, or if a model answers other requests
// for nothing now. The result is nil if the output is no folder.
func (o *Options) OpenFolder(ctx context.Context, account *record.Account, keeps func(record.Statuses) bool) (*Folder, error) {
	if !o.IsFolder() {
		return nil, nil
	}
	f := &Folder{ctx: ctx, path: writer.Clean(o.Path), manifest: record.NewManifest(account)}
	last, err := record.ReadManifest(ctx, f.path)
	if errors.Is(err, fs.ErrNotExist) || o.Overwrite {
		return f, nil
	}
	if damaged, ok := errors.AsType[*record.DamagedError](err); ok {
		return nil, &TakenError{Path: f.path, Reason: damaged.Describe("manifest")}
	}
	if err != nil {
		return nil, err
	}
	if err := takenBy(account, last.Service, last.Settings, f.path); err != nil {
		return nil, err
	}
	f.manifest.Ends, f.full, f.before, f.fewer = last.Ends, last.LastRecords(), last.Parts, o.CheckFewer
	if !slices.Equal(last.Carried, f.manifest.Carried) || last.Free != f.manifest.Free {
		last.Parts = nil
	}
	for i, part := range last.Parts {
		part.Name = writer.Join(f.path, filepath.Base(part.Name)) // under the present name of the folder
		if i >= len(f.full) || !part.Statuses.Settled(keeps) || !intact(ctx, part) {
			break
		}
		f.manifest.Parts = append(f.manifest.Parts, part)
	}
	f.kept = slices.Clone(f.manifest.Parts)
	f.before = f.before[len(f.kept):]
	return f, nil
}

// KeepEnds has the parts end where they ended, however many rows they have now: a part whose rows have not
// changed keeps its bytes. The manifest is written before the first part, so that a run that is started again
// writes all parts again.
func (f *Folder) KeepEnds() error {
	if f == nil {
		return nil
	}
	f.manifest.Ends = f.full
	if len(f.full) == 0 {
		return nil
	}
	return f.manifest.Write(f.ctx, f.path)
}

// hasManifest reports whether a folder has a manifest.
func hasManifest(ctx context.Context, folder string) bool {
	found, err := storage.Exists(ctx, record.ManifestPath(folder))
	return found && err == nil
}

// intact reports whether the file of a part is as it was published.
func intact(ctx context.Context, p record.PublishedPart) bool {
	size, sum, err := storage.Digest(ctx, p.Name)
	return err == nil && size == p.Bytes && sum == p.SHA256
}

// Open opens the sink of the output; folder is nil unless the output is a folder.
func (o *Options) Open(ctx context.Context, schema writer.Schema, metadata map[string]string, folder *Folder, check writer.CheckFunc) (writer.Sink, error) {
	format, err := o.FileFormat()
	if err != nil {
		return nil, err
	}
	options := writer.Options{
		Context: ctx, Storage: storage.Of(ctx, o.Path), Path: o.Path, Format: format, Schema: schema,
		PartRows: o.PartRows, Metadata: metadata, Stdout: o.Stdout, Check: check,
	}
	if folder != nil {
		options.Folder, options.Kept, options.Ends, options.OnPart = true, folder.keptFiles(), folder.manifest.Ends, folder.addPart
	}
	return writer.Open(options)
}

// keptFiles gives the kept parts, after which the sink goes on.
func (f *Folder) keptFiles() []writer.File {
	files := make([]writer.File, len(f.kept))
	for i, p := range f.kept {
		files[i] = writer.File{Path: p.Name, Bytes: p.Bytes, SHA256: p.SHA256, Rows: p.Rows, FirstRecord: p.FirstRecord, LastRecord: p.LastRecord}
	}
	return files
}

// KeptRecords is the number of the last record in a kept part; 0 if there is none.
func (f *Folder) KeptRecords() int64 {
	if f == nil || len(f.kept) == 0 {
		return 0
	}
	return f.kept[len(f.kept)-1].LastRecord
}

// KeptStatuses are the statuses of the records in kept parts.
func (f *Folder) KeptStatuses() (all record.Statuses) {
	if f == nil {
		return all
	}
	for _, p := range f.kept {
		all.AddAll(p.Statuses)
	}
	return all
}

// Count adds the records of kept parts to the counters.
func (f *Folder) Count(c *progress.Counters) {
	if f == nil {
		return
	}
	for _, p := range f.kept {
		settled := p.Statuses.Sum()
		records := settled / max(1, c.Classifications.Load())
		c.CountStatuses(p.Statuses)
		c.Misfits.Add(p.Misfits)
		c.Free.Add(p.Free)
		c.CountWritten(records, int(p.Rows))
		c.Kept.Add(records)
		c.LookedUp.Add(settled)
	}
}

// Check compares the input, at the last record of each kept part, with the input that the part was written
// from.
func (f *Folder) Check(number int64, d Digest) error {
	i, last := slices.BinarySearchFunc(f.kept, number, func(p record.PublishedPart, number int64) int { return cmp.Compare(p.LastRecord, number) })
	if last && f.kept[i].Digest != d.String() {
		return &InputChangedError{Part: f.kept[i].Name, Kept: i}
	}
	return nil
}

// CheckEnd wants the input to have all records of the kept parts.
func (f *Folder) CheckEnd(records int64) error {
	for i, p := range f.kept {
		if records < p.LastRecord {
			return &InputChangedError{Part: p.Name, Kept: i}
		}
	}
	return nil
}

// Expect announces the records whose rows the sink is given next. The part that is open then has all
// records that were announced before. The error is a *[TakenError] if a part would be replaced by fewer outcomes: see
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

// replace compares the next part of those before with the records up to its end.
func (f *Folder) replace() error {
	f.replaced += f.before[0].Statuses.Outcomes()
	f.before = f.before[1:]
	return f.fewer(f.replaced, f.statuses.Outcomes(), f.statuses.Pending)
}

// CheckLast compares the last parts before, of which no later record tells.
func (f *Folder) CheckLast() error {
	for f != nil && len(f.before) > 0 {
		if err := f.replace(); err != nil {
			return err
		}
	}
	return nil
}

// addRecords adds the next records of a part.
func addRecords(p *record.PublishedPart, records []RecordEnd) {
	for _, r := range records {
		p.Statuses.Add(r.Status)
		p.Misfits += r.Misfits
		if r.Free {
			p.Free++
		}
		p.Digest = r.Digest.String()
	}
}

// addPart adds a part that has been published. The sink calls addPart, after the announced records have
// been written.
func (f *Folder) addPart(file writer.File) error {
	n := 0
	for n < len(f.written) && f.written[n].Record <= file.LastRecord {
		n++
	}
	part := f.open
	part.Output = record.OutputOf(file)
	addRecords(&part, f.written[:n])
	f.open, f.written = record.PublishedPart{}, append(f.written[:0], f.written[n:]...)
	f.manifest.Parts = append(f.manifest.Parts, part)
	return f.manifest.Write(f.ctx, f.path)
}

// Digest is a fingerprint of a record and all records before: two inputs with equal digests at a record are
// equal up to that record.
type Digest uint64

func (d Digest) String() string { return fmt.Sprintf("%016x", uint64(d)) }

// Next returns the digest at the next record.
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
