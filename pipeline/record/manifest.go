package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"

	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Manifest says which parts of a folder are published, and of which records. A run that is started again
// keeps these parts and goes on after the last. The manifest lies in the folder, under a name that query
// engines ignore.
type Manifest struct {
	Format   int             `json:"format"` // of this file and the parts' columns; 2
	Service  string          `json:"service"`
	Settings Settings        `json:"settings"`
	Carried  []Carried       `json:"carried_columns,omitempty"`
	Free     string          `json:"free,omitempty"` // a name of the choice of the rows that are free
	Parts    []PublishedPart `json:"parts"`
	Ends     []int64         `json:"part_ends,omitempty"` // last records of the parts that a refresh must not move
	Checksum string          `json:"checksum"`            // SHA-256 of the other members, in hex
}

// PublishedPart is a published part in the manifest.
type PublishedPart struct {
	Output
	Digest   string   `json:"digest"` // of all records of the input to the end of the part
	Statuses Statuses `json:"statuses"`
	Misfits  int64    `json:"misfits,omitempty"`
	Free     int64    `json:"free,omitempty"` // records that a model has answered for nothing
}

// Statuses counts the records of a part, or of the beginning of an output.
type Statuses struct{ ByStatus[int64] }

// Sum adds all statuses.
func (s Statuses) Sum() (n int64) {
	for _, status := range writer.Statuses {
		n += *s.WithStatus(status)
	}
	return n
}

// Outcomes is the number of records with an outcome of the service.
func (s Statuses) Outcomes() int64 { return s.OK + s.Empty + s.Rejected }

// Settled reports whether the next run would give all records the same status. In keeps is a further
// condition; it may be nil.
func (s Statuses) Settled(keeps func(Statuses) bool) bool {
	return s.Failed+s.Pending == 0 && (keeps == nil || keeps(s))
}

// Add counts a record.
func (s *Statuses) Add(status writer.Status) {
	if n := s.WithStatus(status); n != nil {
		*n++
	}
}

// AddAll adds other records.
func (s *Statuses) AddAll(other Statuses) {
	addIntegers(reflect.ValueOf(s).Elem(), reflect.ValueOf(&other).Elem())
}

const manifestFormat = 2

// NewManifest makes the manifest of a run that has published no part.
func NewManifest(account *Account) *Manifest {
	return &Manifest{Format: manifestFormat, Service: account.Service, Settings: account.Settings, Carried: account.Carried, Free: account.Free.Choice()}
}

func (m *Manifest) format() (known int, found *int) { return manifestFormat, &m.Format }
func (m *Manifest) checksum() *string               { return &m.Checksum }

// ReadManifest reads the manifest of a folder. The errors are those of storage.ReadFile, and *DamagedError.
func ReadManifest(ctx context.Context, folder string) (*Manifest, error) {
	m := new(Manifest)
	if err := read(ctx, ManifestPath(folder), m); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return m, nil
}

// Write writes the manifest to the folder, in place of the earlier manifest.
func (m *Manifest) Write(ctx context.Context, folder string) error {
	return write(ctx, ManifestPath(folder), m)
}

// CheckManifest says in a few words how the manifest of a folder differs from the one that the run has written; "" if it
// does not. The account is that of the complete run. The error is that of reading the manifest.
func (a *Account) CheckManifest(ctx context.Context, folder string) (problem string, err error) {
	m, err := ReadManifest(ctx, folder)
	if damaged, ok := errors.AsType[*DamagedError](err); ok {
		return damaged.Describe("manifest"), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing", nil
	}
	if err != nil {
		return "", err
	}
	if changes := a.Changes(m.Service, m.Settings); len(changes) > 0 {
		return "is that of another run: " + changes[0].String(), nil
	}
	same := slices.EqualFunc(m.Parts, a.Outputs, func(p PublishedPart, o Output) bool {
		p.Name, o.Name = filepath.Base(p.Name), filepath.Base(o.Name)
		return p.Output == o
	})
	if !same {
		return "has other parts than the account", nil
	}
	return "", nil
}

// LastRecords are the last records of the parts that are full: all but the last part of a run.
func (m *Manifest) LastRecords() []int64 {
	ends := slices.Clone(m.Ends)
	for i, part := range m.Parts {
		if i >= len(ends) && part.Rows >= m.Settings.PartRows {
			ends = append(ends, part.LastRecord)
		}
	}
	return ends
}

// FolderSettings are the settings with which the parts in a folder were written, also if the run has not ended; nil if
// the folder does not say.
func FolderSettings(ctx context.Context, folder string) (*Settings, error) {
	shards, err := ReadShards(ctx, folder)
	if err != nil {
		return nil, err
	}
	if shards != nil {
		return &shards.Settings, nil
	}
	m, err := ReadManifest(ctx, disk.Clean(folder))
	if _, damaged := errors.AsType[*DamagedError](err); damaged || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &m.Settings, nil
}
