package answers

import (
	"bytes"
	"cmp"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Query asks for the stored outcome of a request.
type Query struct {
	Request client.Request
	Source  string    // "" for the source of the store
	Body    bool      // set Outcome.Answer.Body
	After   time.Time // an outcome counts only if the service gave it after this time; zero for any time

	Found   bool      // there is an outcome that still counts
	Outcome Outcome   // set if Found
	Stored  bool      // there is an outcome, whether it counts or not
	AskedAt time.Time // of the stored outcome, whether it counts or not
	Holder  int       // the other process that has claimed the request; 0 for none; set by Claim and Holders

	Seen int64 // Store.changes at the last lookup, set by LookupAll: Claim looks again only if Store.changes has changed; 0 before
}

// Lookup returns the stored outcome of a request, and whether there is an outcome that counts (see Options). For several
// requests, LookupAll is faster.
func (s *Store) Lookup(r client.Request) (Outcome, bool, error) {
	queries := []Query{{Request: r}}
	if err := s.LookupAll(queries); err != nil {
		return Outcome{}, false, err
	}
	return queries[0].Outcome, queries[0].Found, nil
}

// LookupAll sets Found, Outcome, Stored and AskedAt of the queries. It finds the outcomes that any process has committed.
func (s *Store) LookupAll(queries []Query) error {
	if len(queries) == 0 {
		return nil
	}
	seen := s.changes.Load()
	for i := range queries {
		queries[i].Seen = 0
	}
	return s.read(func(c *conn) error {
		return c.transaction("BEGIN", func() error { return s.lookUp(c, queries, seen) })
	})
}

const selectAnswer = `SELECT outcome, status, asked_at, answered_at, body, checksum FROM answers
	WHERE input = ? AND classification = ? AND kind = ? AND service = ?`

// lookUp looks up the queries that are not Found, unless nothing has changed since their last lookup.
func (s *Store) lookUp(c *conn, queries []Query, changes int64) error {
	for i := range queries {
		q := &queries[i]
		if q.Found || q.Seen == changes {
			continue
		}
		q.Seen = changes
		source, r := cmp.Or(q.Source, s.options.Source), q.Request
		err := c.query(selectAnswer, func(columns *sqlite3.Stmt) error {
			w := row{
				service: []byte(source), kind: []byte(r.Kind), classification: []byte(r.Classification), input: []byte(r.Input),
				result: columns.ColumnRawText(0), status: columns.ColumnInt64(1), asked: columns.ColumnInt64(2), answered: columns.ColumnInt64(3), body: columns.ColumnRawText(4),
			}
			if w.checksum() != columns.ColumnInt64(5) {
				return errDamaged
			}
			return s.answer(q, &w)
		}, r.Input, r.Classification, string(r.Kind), source)
		if err != nil {
			return err
		}
	}
	return nil
}

func (s *Store) answer(q *Query, w *row) error {
	outcome, err := w.outcome(q.Request.Classification)
	if err != nil {
		return err
	}
	q.Stored, q.AskedAt = true, outcome.AskedAt()
	if q.Body && outcome.Rejection == nil {
		outcome.Answer.Body = bytes.Clone(w.body)
	}
	if s.counts(outcome) && (q.After.IsZero() || outcome.AskedAt().After(q.After)) {
		q.Outcome, q.Found = outcome, true
	}
	return nil
}

// counts reports whether an outcome counts. An outcome that the service gave after the store was opened always counts: a run asks
// once for equal inputs.
func (s *Store) counts(o Outcome) bool {
	if o.Rejection != nil && s.options.RetryRejected && o.Answer.AnsweredAt.Before(s.opened) {
		return false
	}
	return s.options.MaxAge <= 0 || !o.AskedAt().Before(s.opened.Add(-s.options.MaxAge))
}

// LatestAnswer returns the newest answer with categories among the last 100 answers of the store's source in a classification;
// false if there is none. The store may be nil.
func (s *Store) LatestAnswer(kind client.Kind, classification string) (latest Stored, found bool, err error) {
	if s == nil {
		return Stored{}, false, nil
	}
	err = s.read(func(c *conn) error {
		return c.query(`SELECT service, kind, classification, input, outcome, status, asked_at, answered_at, body
			FROM answers WHERE service = ? AND kind = ? AND classification = ? AND outcome = 'answer' ORDER BY id DESC LIMIT 100`, func(columns *sqlite3.Stmt) error {
			if found {
				return nil
			}
			w := rowAt(columns, 0)
			outcome, err := w.outcome(classification)
			if found = err == nil && len(outcome.Answer.Entries) > 0; found {
				latest = Stored{Source: s.options.Source, Request: client.Request{Kind: kind, Classification: classification, Input: string(w.input)}, Outcome: outcome}
			}
			return err
		}, s.options.Source, string(kind), classification)
	})
	return latest, found, err
}

// scanRows is the number of rows in one read. A longer read would keep the journal from being emptied.
const scanRows = 1000

// Scan calls visit for the outcomes of all sources, in the order of their first commit. It may leave out outcomes that are
// committed during the scan. It returns the first error of visit.
func (s *Store) Scan(visit func(Stored) error) error {
	for last, more := int64(-1<<63), true; more; {
		var rows []Stored
		err := s.read(func(c *conn) error {
			return c.query(`SELECT id, service, kind, classification, input, outcome, status, asked_at, answered_at, body, checksum
				FROM answers WHERE id > ? ORDER BY id LIMIT ?`, func(columns *sqlite3.Stmt) error {
				last = columns.ColumnInt64(0)
				w := rowAt(columns, 1)
				if w.checksum() != columns.ColumnInt64(10) {
					return errDamaged
				}
				r := client.Request{Kind: client.Kind(w.kind), Classification: string(w.classification), Input: string(w.input)}
				o, err := w.outcome(r.Classification)
				if err != nil {
					return err
				}
				if o.Rejection == nil {
					o.Answer.Body = bytes.Clone(w.body)
				}
				rows = append(rows, Stored{Source: string(w.service), Request: r, Outcome: o})
				return nil
			}, last, int64(scanRows))
		})
		if err != nil {
			return err
		}
		for _, stored := range rows {
			if err := visit(stored); err != nil {
				return err
			}
		}
		more = len(rows) == scanRows
	}
	return nil
}

// rowAt returns the row in the columns from first on. Its texts are valid until the next step.
func rowAt(c *sqlite3.Stmt, first int) row {
	return row{
		service: c.ColumnRawText(first), kind: c.ColumnRawText(first + 1), classification: c.ColumnRawText(first + 2), input: c.ColumnRawText(first + 3),
		result: c.ColumnRawText(first + 4), status: c.ColumnInt64(first + 5), asked: c.ColumnInt64(first + 6), answered: c.ColumnInt64(first + 7), body: c.ColumnRawText(first + 8),
	}
}
