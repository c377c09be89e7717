package answers

import (
	"github.com/bulkcat/bulkcat/client"
)

// Batch collects outcomes that are committed together.
type Batch struct {
	store    *Store
	rows     []row
	requests []client.Request // of rows
	notes    []note
}

type note struct {
	source string // "" for the store itself
	name   string
	body   []byte
}

// NewBatch starts an empty batch. A batch is for one goroutine, and may be used again after Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s} }

// Add puts an outcome into the batch. It replaces a stored outcome of the same request.
func (b *Batch) Add(r client.Request, o Outcome) {
	b.rows = append(b.rows, newRow(b.store.options.Source, r, o))
	b.requests = append(b.requests, r)
}

// AddNote puts a note into the batch. It replaces the stored note of the same name.
func (b *Batch) AddNote(name string, body []byte) {
	b.notes = append(b.notes, note{b.store.options.Source, name, body})
}

// AddNotes puts notes of the store itself into the batch. Each replaces the stored note of the same name.
func (b *Batch) AddNotes(notes map[string][]byte) {
	for name, body := range notes {
		b.notes = append(b.notes, note{"", name, body})
	}
}

const (
	insertAnswer = `INSERT INTO answers (service, kind, classification, input, outcome, status, asked_at, answered_at, body, checksum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome, status = excluded.status, asked_at = excluded.asked_at,
		answered_at = excluded.answered_at, body = excluded.body, checksum = excluded.checksum`
	insertNote = "INSERT OR REPLACE INTO notes (service, name, body) VALUES (?, ?, CAST(? AS BLOB))"
)

// Commit makes the whole batch durable, gives back the claims of its requests, and empties the batch. After an error, either all
// or nothing of the batch is stored.
func (b *Batch) Commit() error {
	s := b.store
	if len(b.rows) == 0 && len(b.notes) == 0 {
		if err := s.failure.Load(); err != nil {
			return *err
		}
		return nil
	}
	defer func() {
		clear(b.rows)
		clear(b.requests)
		b.rows, b.requests, b.notes = b.rows[:0], b.requests[:0], nil
	}()
	return s.write(true, func(c *conn) error {
		unclaimed := false
		err := c.transaction("BEGIN IMMEDIATE", func() error {
			if err := s.giveBack(c); err != nil {
				return err
			}
			for i := range b.rows {
				w := &b.rows[i]
				if err := w.insert(c, insertAnswer); err != nil {
					return err
				}
				if s.owner != nil {
					if err := s.unclaim(c, b.requests[i]); err != nil {
						return err
					}
					unclaimed = unclaimed || c.Changes() == 0
				}
			}
			for _, n := range b.notes {
				if err := c.query(insertNote, nil, n.source, n.name, n.body); err != nil {
					return err
				}
			}
			return s.checkFiles()
		})
		if unclaimed {
			s.changes.Add(1)
		}
		return err
	})
}

func (w *row) insert(c *conn, sql string) error {
	return c.query(sql, nil, w.service, w.kind, w.classification, w.input, w.result, w.status, w.asked, w.answered, w.body, w.checksum())
}
