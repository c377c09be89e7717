package answers

import (
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Query asks for the stored outcome of a request.
type Query struct {
	Request client.Request
	Body    bool      // set Outcome.Answer.Body
	After   time.Time // an outcome counts only if the service gave it after this time; zero for any time

	Found   bool    // there is an outcome that still counts
	Outcome Outcome // set if Found
	Stored  bool    // there is an outcome, whether it counts or not
	Holder  int     // the other process that has claimed the request; 0 for none, and if Found
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

// LookupAll sets Found, Outcome, Stored and Holder of the queries that are not Found. It finds the outcomes that any process has
// committed, and in a nil Store none. Only Claim notices that a Holder is gone.
func (s *Store) LookupAll(queries []Query) error {
	if s == nil || len(queries) == 0 {
		return nil
	}
	return s.read(func(c *conn) error {
		return c.transaction("BEGIN", func() error { return s.lookUp(c, queries) })
	})
}

// selectRows selects the columns that readRow reads.
const selectRows = "SELECT service, kind, classification, input, outcome, status, asked_at, answered_at, body, checksum, id FROM answers "

// whereRequest selects the row of a request to a service.
const whereRequest = "WHERE input = ? AND classification = ? AND kind = ? AND service = ?"

// readRow returns a row of selectRows. Its texts are valid until the next step. The error is errDamaged.
func readRow(c *sqlite3.Stmt) (row, error) {
	w := row{
		service: c.ColumnRawText(0), kind: c.ColumnRawText(1), classification: c.ColumnRawText(2), input: c.ColumnRawText(3), result: c.ColumnRawText(4),
		status: c.ColumnInt64(5), asked: c.ColumnInt64(6), answered: c.ColumnInt64(7), body: c.ColumnRawText(8),
	}
	if w.checksum() != c.ColumnInt64(9) {
		return row{}, errDamaged
	}
	return w, nil
}

// readStored is readRow for a copy of the outcome and its request.
func readStored(c *sqlite3.Stmt) (Stored, error) {
	w, err := readRow(c)
	if err != nil {
		return Stored{}, err
	}
	r := client.Request{Kind: client.Kind(w.kind), Classification: string(w.classification), Input: string(w.input)}
	o, err := w.outcome(r.Classification, true)
	return Stored{Source: string(w.service), Request: r, Outcome: o}, err
}

// selectHolder selects the process that has claimed a request, unless it is a given owner.
const selectHolder = "SELECT pid FROM claims JOIN owners ON id = owner WHERE request = ? AND owner <> ?"

// lookUp looks up the queries that are not Found.
func (s *Store) lookUp(c *conn, queries []Query) error {
	for i := range queries {
		q, r := &queries[i], queries[i].Request
		if q.Found {
			continue
		}
		err := c.query(selectRows+whereRequest, func(columns *sqlite3.Stmt) error {
			w, err := readRow(columns)
			if err != nil {
				return err
			}
			o, err := w.outcome(r.Classification, q.Body)
			if err != nil {
				return err
			}
			q.Stored = true
			if s.counts(o) && (q.After.IsZero() || o.AskedAt().After(q.After)) {
				q.Outcome, q.Found = o, true
			}
			return nil
		}, r.Input, r.Classification, string(r.Kind), s.options.Source)
		q.Holder = 0
		if err == nil && !q.Found && s.hasClaims() {
			err = c.query(selectHolder, func(row *sqlite3.Stmt) error { q.Holder = row.ColumnInt(0); return nil }, s.claimOf(r), s.owner.id.Load())
		}
		if err != nil {
			return err
		}
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
		where := "WHERE service = ? AND kind = ? AND classification = ? AND outcome = 'answer' ORDER BY id DESC LIMIT 100"
		return c.query(selectRows+where, func(columns *sqlite3.Stmt) (err error) {
			if !found {
				latest, err = readStored(columns)
				found = err == nil && len(latest.Outcome.Answer.Entries) > 0
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
			return c.query(selectRows+"WHERE id > ? ORDER BY id LIMIT ?", func(columns *sqlite3.Stmt) error {
				last = columns.ColumnInt64(10)
				stored, err := readStored(columns)
				rows = append(rows, stored)
				return err
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
