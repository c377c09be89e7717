package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/progress"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// manifest is the manifest of the folder that a run writes.
type manifest struct {
	*record.Manifest
	ctx    context.Context // of the calls of the storage
	folder string
	full   []int64                // last records of the full parts of an earlier run
	kept   []record.PublishedPart // of an earlier run, the first of Parts

	open    record.PublishedPart // the part that is being written, without the records of written
	written []recordEnd          // of the records that the sink was given last, in order
}

// recordEnd is the state of the run at the end of a record, for the manifest.
type recordEnd struct {
	record int64
	digest digest
	status writer.Status

	misfits int64
}

// OutputTakenError says that an output is not this run's to replace.
type OutputTakenError struct {
	Path    string
	Reason  string
	Changes []record.SettingChange // between the run that has written the output and this run
}

func (e *OutputTakenError) Error() string {
	var changes []string
	for _, c := range e.Changes {
		changes = append(changes, c.String())
	}
	return e.Describe(changes)
}

// Describe is the text of the error, with the changes in the caller's words.
func (e *OutputTakenError) Describe(changes []string) string {
	text := e.Path + " " + e.Reason
	if len(changes) > 0 {
		text += " (" + strings.Join(changes, "; ") + ")"
	}
	return text
}

// InputChangedError says that the records of the input are not those that the kept parts were written
// from.
type InputChangedError struct {
	Part string // the input has changed in this part or before
}

func (e *InputChangedError) Error() string {
	return fmt.Sprintf("the input has changed since %s was written", e.Part)
}

// openManifest reads the manifest of a folder, for a run with the settings of account, and finds the parts
// to keep: the first parts that are full, as they were published, and of records that are settled. A
// record is settled if it is neither failed nor pending, and keeps agrees; keeps may be nil. The last part
// of a run is not full and is written again, because more records may follow. A folder without a manifest
// gets a new one, and with overwrite so does a folder of another run. No part is kept if the carried columns or
// their types have changed with the input, so that all parts have the same columns.
func openManifest(ctx context.Context, folder string, account *record.Account, overwrite bool, keeps func(record.Statuses) bool) (*manifest, error) {
	m := &manifest{ctx: ctx, folder: folder, Manifest: record.NewManifest(account)}
	last, err := record.ReadManifest(ctx, folder)
	if errors.Is(err, fs.ErrNotExist) || overwrite {
		return m, nil
	}
	if damaged, ok := errors.AsType[*record.DamagedError](err); ok {
		return nil, &OutputTakenError{Path: folder, Reason: damaged.Describe("manifest")}
	}
	if err != nil {
		return nil, err
	}
	if changes := account.Changes(last.Service, last.Settings); len(changes) > 0 {
		return nil, &OutputTakenError{Path: folder, Reason: writtenByAnother, Changes: changes}
	}
	m.Ends, m.full = last.Ends, last.LastRecords()
	if !slices.Equal(last.Carried, m.Carried) {
		last.Parts = nil
	}
	for i, part := range last.Parts {
		part.Name = writer.Join(folder, filepath.Base(part.Name)) // under the present name of the folder
		if i >= len(m.full) || !part.Statuses.Settled(keeps) || !intact(ctx, part) {
			break
		}
		m.Parts = append(m.Parts, part)
	}
	m.kept = slices.Clone(m.Parts)
	return m, nil
}

// keepEnds has the parts end where they ended, however many rows they have now: a part whose rows have not
// changed keeps its bytes. The manifest is written before the first part, so that a run that is started again
// writes all parts again.
func (m *manifest) keepEnds() error {
	m.Ends = m.full
	if len(m.Ends) == 0 {
		return nil
	}
	return m.Write(m.ctx, m.folder)
}

// hasManifest says whether a folder has a manifest.
func hasManifest(ctx context.Context, folder string) bool {
	found, err := storage.Exists(ctx, record.ManifestPath(folder))
	return found && err == nil
}

// intact reports whether the file of a part is as it was published.
func intact(ctx context.Context, p record.PublishedPart) bool {
	f, err := storage.Open(ctx, p.Name)
	if err != nil {
		return false
	}
	defer f.Close() // only read from
	hash := sha256.New()
	n, err := io.Copy(hash, f)
	return err == nil && n == p.Bytes && hex.EncodeToString(hash.Sum(nil)) == p.SHA256
}

// keptFiles gives the kept parts, after which the sink goes on.
func (m *manifest) keptFiles() []writer.File {
	files := make([]writer.File, len(m.kept))
	for i, p := range m.kept {
		files[i] = writer.File{Path: p.Name, Bytes: p.Bytes, SHA256: p.SHA256, Rows: p.Rows, FirstRecord: p.FirstRecord, LastRecord: p.LastRecord}
	}
	return files
}

// keptRecords is the number of the last record in a kept part; 0 if there is none.
func (m *manifest) keptRecords() int64 {
	if m == nil || len(m.kept) == 0 {
		return 0
	}
	return m.kept[len(m.kept)-1].LastRecord
}

// count adds the records of kept parts to the counters.
func (m *manifest) count(c *progress.Counters) {
	if m == nil {
		return
	}
	for _, p := range m.kept {
		settled := p.Statuses.Sum()
		records := settled / max(1, c.Classifications.Load())
		c.CountStatuses(p.Statuses)
		c.Misfits.Add(p.Misfits)
		c.CountWritten(records, int(p.Rows))
		c.Kept.Add(records)
		c.LookedUp.Add(settled)
	}
}

// check compares the input, at the last record of each kept part, with the input that the part was written
// from.
func (m *manifest) check(number int64, d digest) error {
	i, last := slices.BinarySearchFunc(m.kept, number, func(p record.PublishedPart, number int64) int { return cmp.Compare(p.LastRecord, number) })
	if last && m.kept[i].Digest != d.String() {
		return &InputChangedError{Part: m.kept[i].Name}
	}
	return nil
}

// checkEnd wants the input to have all records of the kept parts.
func (m *manifest) checkEnd(records int64) error {
	if records < m.keptRecords() {
		return &InputChangedError{Part: m.kept[len(m.kept)-1].Name}
	}
	return nil
}

// expect announces the records whose rows the sink is given next. The part that is open then has all
// records that were announced before.
func (m *manifest) expect(records []recordEnd) {
	if m == nil {
		return
	}
	addRecords(&m.open, m.written)
	m.written = append(m.written[:0], records...)
}

// addRecords adds the next records of a part.
func addRecords(p *record.PublishedPart, records []recordEnd) {
	for _, r := range records {
		p.Statuses.Add(r.status)
		p.Misfits += r.misfits
		p.Digest = r.digest.String()
	}
}

// addPart adds a part that has been published. The sink calls addPart, after the announced records have
// been written.
func (m *manifest) addPart(f writer.File) error {
	n := 0
	for n < len(m.written) && m.written[n].record <= f.LastRecord {
		n++
	}
	part := m.open
	part.Output = record.OutputOf(f)
	addRecords(&part, m.written[:n])
	m.open, m.written = record.PublishedPart{}, append(m.written[:0], m.written[n:]...)
	m.Parts = append(m.Parts, part)
	return m.Write(m.ctx, m.folder)
}

// digest is a fingerprint of a record and all records before: two inputs with equal digests at a record are
// equal up to that record.
type digest uint64

func (d digest) String() string { return fmt.Sprintf("%016x", uint64(d)) }

// next gives the digest at the next record.
func (d digest) next(h *xxhash.Digest, r *reader.Record) digest {
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
	return digest(h.Sum64())
}
