package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// manifest says which parts of a folder are published, and of which records. A run that is started again
// keeps these parts and goes on after the last. The manifest lies in the folder, under a name that query
// engines ignore.
type manifest struct {
	ctx      context.Context // of the calls of the storage
	Format   int             `json:"format"` // of this file and the parts' columns; 2
	Service  string          `json:"service"`
	Settings Settings        `json:"settings"`
	Carried  []Carried       `json:"carried_columns,omitempty"`
	Parts    []publishedPart `json:"parts"`
	Ends     []int64         `json:"part_ends,omitempty"` // last records of the parts that a refresh must not move
	Checksum string          `json:"checksum"`            // SHA-256 of the other members, in hex

	path string
	full []int64         // last records of the full parts of an earlier run
	kept []publishedPart // of an earlier run, the first of Parts

	open    publishedPart // the part that is being written, without the records of written
	written []recordEnd   // of the records that the sink was given last, in order
}

// publishedPart is a part in the manifest.
type publishedPart struct {
	Output
	Digest   string   `json:"digest"` // of all records of the input to the end of the part
	Statuses statuses `json:"statuses"`
	Misfits  int64    `json:"misfits,omitempty"`
}

// statuses counts records by status, each once for each classification.
type statuses struct {
	OK       int64 `json:"ok"`
	Empty    int64 `json:"empty"`
	Rejected int64 `json:"rejected"`
	Failed   int64 `json:"failed"`
	Invalid  int64 `json:"invalid"`
	Pending  int64 `json:"pending"`
}

// sum adds all statuses.
func (s statuses) sum() int64 {
	return s.OK + s.Empty + s.Rejected + s.Failed + s.Invalid + s.Pending
}

// settled says whether the next run would give all records the same status. In keeps is a further
// condition; it may be nil.
func (s statuses) settled(keeps func(statuses) bool) bool {
	return s.Failed+s.Pending == 0 && (keeps == nil || keeps(s))
}

func (s *statuses) add(status writer.Status) {
	switch status {
	case writer.StatusOK:
		s.OK++
	case writer.StatusEmpty:
		s.Empty++
	case writer.StatusRejected:
		s.Rejected++
	case writer.StatusFailed:
		s.Failed++
	case writer.StatusInvalid:
		s.Invalid++
	case writer.StatusPending:
		s.Pending++
	}
}

// recordEnd is the state of the run at the end of a record, for the manifest.
type recordEnd struct {
	record int64
	digest digest
	status writer.Status

	misfits int64
}

const (
	manifestName   = "_manifest.json"
	manifestFormat = 2
)

// OutputTakenError says that an output is not this run's to replace.
type OutputTakenError struct {
	Path    string
	Reason  string
	Changes []Change // between the run that has written the output and this run
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
func openManifest(ctx context.Context, folder string, account *Account, overwrite bool, keeps func(statuses) bool) (*manifest, error) {
	m := &manifest{ctx: ctx, Format: manifestFormat, Service: account.Service, Settings: account.Settings, Carried: account.Carried, path: writer.Join(folder, manifestName)}
	last, err := readManifest(ctx, folder)
	if errors.Is(err, fs.ErrNotExist) || overwrite {
		return m, nil
	}
	if err != nil {
		return nil, err
	}
	if changes := account.changes(last.Service, last.Settings); len(changes) > 0 {
		return nil, &OutputTakenError{Path: folder, Reason: writtenByAnother, Changes: changes}
	}
	m.Ends, m.full = last.Ends, last.ends()
	if !slices.Equal(last.Carried, m.Carried) {
		last.Parts = nil
	}
	for i, part := range last.Parts {
		part.Name = writer.Join(folder, filepath.Base(part.Name)) // under the present name of the folder
		if i >= len(m.full) || !part.Statuses.settled(keeps) || !part.intact(ctx) {
			break
		}
		m.Parts = append(m.Parts, part)
	}
	m.kept = slices.Clone(m.Parts)
	return m, nil
}

// readManifest reads the manifest of a folder. The errors are those of storage.ReadFile, and an *OutputTakenError for a
// file that is no manifest.
func readManifest(ctx context.Context, folder string) (*manifest, error) {
	text, err := storage.ReadFile(ctx, writer.Join(folder, manifestName))
	if err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	m := new(manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, &OutputTakenError{Path: folder, Reason: "has a damaged manifest (" + err.Error() + ")"}
	}
	if m.Checksum != m.seal() {
		return nil, &OutputTakenError{Path: folder, Reason: "has a manifest that is not as it was written"}
	}
	if m.Format != manifestFormat {
		return nil, &OutputTakenError{Path: folder, Reason: fmt.Sprintf("has a manifest of format %d, not %d", m.Format, manifestFormat)}
	}
	return m, nil
}

// CheckManifest says in a few words how the manifest of a folder differs from the one that the run has written; "" if it
// does not. The account is that of the complete run. The error is that of reading the manifest.
func (a *Account) CheckManifest(ctx context.Context, folder string) (problem string, err error) {
	m, err := readManifest(ctx, folder)
	if taken, ok := errors.AsType[*OutputTakenError](err); ok {
		return taken.Reason, nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing", nil
	}
	if err != nil {
		return "", err
	}
	if changes := a.changes(m.Service, m.Settings); len(changes) > 0 {
		return "is that of another run: " + changes[0].String(), nil
	}
	same := slices.EqualFunc(m.Parts, a.Outputs, func(p publishedPart, o Output) bool {
		p.Name, o.Name = filepath.Base(p.Name), filepath.Base(o.Name)
		return p.Output == o
	})
	if !same {
		return "has other parts than the account", nil
	}
	return "", nil
}

// ManifestPath is the path of the manifest of a folder.
func ManifestPath(folder string) string { return writer.Join(folder, manifestName) }

// ends gives the last records of the parts that are full: all but the last part of a run.
func (m *manifest) ends() []int64 {
	ends := slices.Clone(m.Ends)
	for i, part := range m.Parts {
		if i >= len(ends) && part.Rows >= m.Settings.PartRows {
			ends = append(ends, part.LastRecord)
		}
	}
	return ends
}

// keepEnds has the parts end where they ended, however many rows they have now: a part whose rows have not
// changed keeps its bytes. The manifest is written before the first part, so that a run that is started again
// writes all parts again.
func (m *manifest) keepEnds() error {
	m.Ends = m.full
	if len(m.Ends) == 0 {
		return nil
	}
	return m.write()
}

// hasManifest says whether a folder has a manifest.
func hasManifest(ctx context.Context, folder string) bool {
	found, err := storage.Exists(ctx, writer.Join(folder, manifestName))
	return found && err == nil
}

// intact says whether the file is as it was published.
func (p publishedPart) intact(ctx context.Context) bool {
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
func (m *manifest) count(c *Counters) {
	if m == nil {
		return
	}
	for _, p := range m.kept {
		settled := p.Statuses.sum()
		records := settled / max(1, c.Classifications.Load())
		c.countStatuses(p.Statuses)
		c.misfits.count.Add(p.Misfits)
		c.countWritten(records, int(p.Rows))
		c.Kept.Add(records)
		c.LookedUp.Add(settled)
	}
}

// check compares the input, at the last record of each kept part, with the input that the part was written
// from.
func (m *manifest) check(record int64, d digest) error {
	i, last := slices.BinarySearchFunc(m.kept, record, func(p publishedPart, record int64) int { return cmp.Compare(p.LastRecord, record) })
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
	m.open.add(m.written)
	m.written = append(m.written[:0], records...)
}

// add adds the part's next records.
func (p *publishedPart) add(records []recordEnd) {
	for _, r := range records {
		p.Statuses.add(r.status)
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
	part.Output = outputOf(f)
	part.add(m.written[:n])
	m.open, m.written = publishedPart{}, append(m.written[:0], m.written[n:]...)
	m.Parts = append(m.Parts, part)
	return m.write()
}

func (m *manifest) write() error {
	m.Checksum = m.seal()
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return fmt.Errorf("write the manifest: %w", err)
	}
	return storage.Publish(m.ctx, m.path, append(text, '\n'))
}

func (m *manifest) seal() string {
	unsealed := *m
	unsealed.Checksum = ""
	return seal(unsealed)
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
