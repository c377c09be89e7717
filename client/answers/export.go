package answers

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

// Export writes the answers of all sources as JSON lines, in the order of their arrival:
//
//	{"source":"https://api.example.com","kind":"website","classification":"taxonomy_v3",
//	 "input":"https://example.com","outcome":"answer","status":200,
//	 "answered_at":"2026-03-01T12:00:00.123456Z","body":{"taxonomy_v3":[...]}}
//
// on one line each. The body is the answer as it came, or the reason of a rejection as a
// string. Damaged answers are left out and counted. The error is a *DamageError if some
// could not be read; all others are then written nevertheless.
func (s *Store) Export(w io.Writer) (int64, error) {
	var written int64
	out := bufio.NewWriterSize(w, 1<<16)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := s.scan(func(r live) error {
		l, err := newLine(r)
		if err != nil {
			return err
		}
		if err := e.Encode(l); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		written++
		return nil
	})
	return written, errors.Join(err, out.Flush())
}

// ImportError says that a line is no exported answer. Those before it are imported.
type ImportError struct {
	File string
	Line int
	Err  error
}

func (e *ImportError) Error() string {
	return e.File + ":" + strconv.Itoa(e.Line) + ": " + e.Err.Error() + ": mend or remove the line and import the file again; the lines before it are imported"
}

func (e *ImportError) Unwrap() error { return e.Err }

// Imported counts what an import did.
type Imported struct {
	Added int64 `json:"added"` // new, or newer than what was stored
	Kept  int64 `json:"kept"`  // what was stored is as new or newer
}

const (
	importBatch = 1024     // lines made durable together, at most
	importBytes = 4 << 20  // of answers that are enough for a batch
	maxLine     = 64 << 20 // bytes; far above any answer
)

// Import reads what Export has written; file names it in errors. Of two answers to one
// request the newer is kept. The error is an *ImportError for a malformed line, and the
// reader's if that fails.
func (s *Store) Import(from io.Reader, file string) (Imported, error) {
	r := &failing{Reader: from}
	im := &importer{store: s, batch: s.NewBatch(), pending: make(map[string]int)}
	lines := bufio.NewScanner(r)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		source, request, outcome, err := parseLine(lines.Bytes())
		if r.err != nil { // the last line is not whole
			break
		}
		if err != nil {
			return im.end(&ImportError{File: file, Line: n, Err: err})
		}
		if err := im.add(source, request, outcome); err != nil {
			return im.done, err
		}
	}
	if r.err != nil {
		return im.end(fmt.Errorf("import %s: %w", file, r.err))
	}
	if err := lines.Err(); err != nil {
		return im.end(&ImportError{File: file, Line: n + 1, Err: err})
	}
	return im.end(nil)
}

// failing remembers why a reader failed: a scanner hands out what was read of a line first.
type failing struct {
	io.Reader
	err error // nil at the end, too
}

func (f *failing) Read(p []byte) (int, error) {
	n, err := f.Reader.Read(p)
	if err != nil && err != io.EOF {
		f.err = err
	}
	return n, err
}

// importer gathers lines. The lines in done are durable.
type importer struct {
	store   *Store
	batch   *Batch
	newer   []newer        // than what is stored, in the order of the lines
	pending map[string]int // index in newer, by key
	lines   int            // since the last commit
	bytes   int            // of answers in newer
	count   Imported       // since the last commit
	done    Imported
}

// newer is an outcome that is to be stored, maybe in place of an older outcome.
type newer struct {
	source  string
	request client.Request
	outcome Outcome
}

func (im *importer) add(source string, r client.Request, o Outcome) error {
	key := string(appendKey(nil, source, r))
	i, found := im.pending[key]
	last := time.Time{}
	if found {
		last = im.newer[i].outcome.Answer.AnsweredAt
	} else {
		queries := []Query{{Request: r}}
		if err := im.store.lookupOf(source, queries); err != nil {
			return err
		}
		last = queries[0].answeredAt
	}
	im.lines++
	switch n := (newer{source, r, o}); {
	case !last.IsZero() && !o.Answer.AnsweredAt.After(last):
		im.count.Kept++
	case found:
		im.newer[i] = n
		im.count.Added++
	default:
		im.pending[key] = len(im.newer)
		im.newer = append(im.newer, n)
		im.count.Added++
	}
	im.bytes += len(o.Answer.Body)
	if im.lines < importBatch && im.bytes < importBytes {
		return nil
	}
	return im.commit()
}

func (im *importer) commit() error {
	for _, n := range im.newer {
		im.batch.addOf(n.source, n.request, n.outcome)
	}
	if err := im.batch.Commit(); err != nil {
		return err
	}
	im.done.Added += im.count.Added
	im.done.Kept += im.count.Kept
	im.count, im.lines, im.bytes = Imported{}, 0, 0
	clear(im.newer)
	im.newer = im.newer[:0]
	clear(im.pending)
	return nil
}

// end makes durable what is left, and returns the reason of the end.
func (im *importer) end(reason error) (Imported, error) {
	err := errors.Join(reason, im.commit())
	return im.done, err
}
