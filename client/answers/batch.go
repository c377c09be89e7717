package answers

import "github.com/bulkcat/bulkcat/client"

// Batch collects outcomes that are committed together.
type Batch struct {
	store  *Store
	insert string // insertAnswer or insertNewer
	rows   []row
	notes  []note
	counts Imported // of all commits
}

type note struct {
	source string // "" for the store itself
	name   string
	body   []byte
}

const (
	insert = `INSERT INTO answers (service, kind, classification, input, outcome, status, asked_at, answered_at, body, checksum)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET outcome = excluded.outcome, status = excluded.status, asked_at = excluded.asked_at,
		answered_at = excluded.answered_at, body = excluded.body, checksum = excluded.checksum WHERE `

	// insertAnswer keeps an answer that another process has stored if the service gave it after the new rejection.
	insertAnswer = insert + "excluded.outcome = 'answer' OR answers.outcome = 'rejection' OR excluded.asked_at >= answers.asked_at"

	// insertNewer keeps the newer of two outcomes of one request.
	insertNewer = insert + "excluded.asked_at > answers.asked_at"

	insertNote = "INSERT OR REPLACE INTO notes (service, name, body) VALUES (?, ?, CAST(? AS BLOB))"
)

// NewBatch starts an empty batch. A batch is for one goroutine, and may be used again after Commit.
func (s *Store) NewBatch() *Batch { return &Batch{store: s, insert: insertAnswer} }

// Add puts an outcome into the batch. It replaces a stored outcome of the same request, but a rejection does not replace an answer
// that the service gave later.
func (b *Batch) Add(r client.Request, o Outcome) {
	b.rows = append(b.rows, newRow(b.store.options.Source, r, o))
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

// Commit makes the whole batch durable, gives back the claims of its requests, and empties the batch. After an error, either all
// or nothing of the batch is stored.
func (b *Batch) Commit() error {
	defer func() {
		clear(b.rows)
		b.rows, b.notes = b.rows[:0], nil
	}()
	return b.store.commit(true, func(c *conn) error {
		for i := range b.rows {
			w := &b.rows[i]
			err := c.query(b.insert, nil, w.service, w.kind, w.classification, w.input, w.result, w.status, w.asked, w.answered, w.body, w.checksum())
			if err == nil {
				added := c.Changes()
				b.counts.Added, b.counts.Kept = b.counts.Added+added, b.counts.Kept+1-added
				err = b.store.unclaim(c, w.claim())
			}
			if err != nil {
				return err
			}
		}
		for _, n := range b.notes {
			if err := c.query(insertNote, nil, n.source, n.name, n.body); err != nil {
				return err
			}
		}
		return nil
	})
}
