package account

import (
	"reflect"
	"slices"

	"github.com/bulkcat/bulkcat/writer/form"
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
func (s Statuses) Sum() int64 {
	return s.OK + s.Empty + s.Rejected + s.Failed + s.Invalid + s.Blank + s.Pending
}

// Outcomes is the number of records with an outcome of the service.
func (s Statuses) Outcomes() int64 { return s.OK + s.Empty + s.Rejected }

// Settled reports whether the next run would give all records the same status. In keeps is a further
// condition; it may be nil.
func (s Statuses) Settled(keeps func(Statuses) bool) bool {
	return s.Failed+s.Pending == 0 && (keeps == nil || keeps(s))
}

// Add counts a record.
func (s *Statuses) Add(status form.Status) {
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
