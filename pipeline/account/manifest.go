package account

import (
	"reflect"
	"slices"

	"github.com/bulkcat/bulkcat/writer/form"
)

// Manifest lists the published parts of a folder, with their records. A run that is started again keeps these parts and
// continues after the last part. The manifest lies in the folder, under a name that query engines ignore.
type Manifest struct {
	Format   int             `json:"format"` // of this file and the parts' columns; 2
	Service  string          `json:"service"`
	Settings Settings        `json:"settings"`
	Carried  []Carried       `json:"carried_columns,omitempty"`
	Free     string          `json:"free,omitempty"` // Audit.Choice of the free rows
	Parts    []PublishedPart `json:"parts"`
	Ends     []int64         `json:"part_ends,omitempty"` // the last records of parts whose ends a refresh must not move
	Checksum string          `json:"checksum"`            // SHA-256 of the other members, in hex
}

// PublishedPart is a published part in the manifest.
type PublishedPart struct {
	Output
	Digest   string   `json:"digest"` // of all records of the input to the end of the part
	Statuses Statuses `json:"statuses"`
	Misfits  int64    `json:"misfits,omitempty"`
	Free     int64    `json:"free,omitempty"` // records that a model has answered for free
}

// Statuses counts the records of a part, or of the beginning of an output.
type Statuses struct{ ByStatus[int64] }

// Sum adds all statuses.
func (s Statuses) Sum() int64 {
	return s.OK + s.Empty + s.Rejected + s.Failed + s.Invalid + s.Blank + s.Pending
}

// Outcomes is the number of records with an outcome of the service.
func (s Statuses) Outcomes() int64 { return s.OK + s.Empty + s.Rejected }

// Settled reports whether the next run would give all records the same status. keeps is a further condition; it may be nil.
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

// LastRecords returns the last records of Ends and of further full parts. Only the last part of a run is not full.
func (m *Manifest) LastRecords() []int64 {
	ends := slices.Clone(m.Ends)
	for i, part := range m.Parts {
		if i >= len(ends) && part.Rows >= m.Settings.PartRows {
			ends = append(ends, part.LastRecord)
		}
	}
	return ends
}
