package archive

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// ImportError says that a line is no exported answer. The lines before it are imported.
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
	batchAnswers = 1024    // made durable together, at most
	batchBytes   = 4 << 20 // of answers that are enough for a batch

	maxLine = 64 << 20 // bytes; far above any answer
)

// Import reads what Export has written; file names it in errors. Of two answers to one request
// the newer is kept. The error is an *ImportError for a malformed line, and the reader's if the
// reader fails. Import ends with the cause of ctx when ctx ends and from returns; what was imported stays.
func Import(ctx context.Context, s *answers.Store, from io.Reader, file string) (Imported, error) {
	im := newImporter(s)
	lines := bufio.NewScanner(readerUntil{ctx, from})
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		stored, err := parseLine(lines.Bytes())
		if err != nil && lines.Err() != nil {
			break // the reader has failed within the line
		}
		if err != nil {
			return im.end(&ImportError{File: file, Line: n, Err: err})
		}
		if err := im.add(stored); err != nil {
			return im.done, err
		}
	}
	err := lines.Err()
	if errors.Is(err, bufio.ErrTooLong) {
		err = &ImportError{File: file, Line: n + 1, Err: err}
	} else if err != nil {
		err = fmt.Errorf("import %s: %w", file, err)
	}
	return im.end(err)
}

// Merge adds the answers of another store. Of two answers to one request the newer is kept. When
// ctx ends, so does the work; the error is then the context's cause.
func Merge(ctx context.Context, to, from *answers.Store) (Imported, error) {
	im := newImporter(to)
	return im.end(from.Scan(func(a answers.Stored) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return im.add(a)
	}))
}

// importer gathers answers. Those that are counted in done are durable.
type importer struct {
	store   *answers.Store
	batch   *answers.Batch
	pending map[key]struct{} // of the batch
	bytes   int              // of the batch
	count   Imported         // since the last commit
	done    Imported
}

type key struct {
	source  string
	request client.Request
}

func newImporter(s *answers.Store) *importer {
	return &importer{store: s, batch: s.NewBatch(), pending: make(map[key]struct{})}
}

func (im *importer) add(a answers.Stored) error {
	k := key{a.Source, a.Request}
	if _, twice := im.pending[k]; twice || len(im.pending) == batchAnswers || im.bytes > batchBytes {
		if err := im.commit(); err != nil {
			return err
		}
	}
	queries := []answers.Query{{Request: a.Request, Source: a.Source}}
	if err := im.store.LookupAll(queries); err != nil {
		return err
	}
	if last := queries[0].AnsweredAt; !last.IsZero() && !a.Outcome.Answer.AnsweredAt.After(last) {
		im.count.Kept++
		return nil
	}
	im.batch.AddOf(a.Source, a.Request, a.Outcome)
	im.pending[k] = struct{}{}
	im.bytes += len(a.Outcome.Answer.Body)
	im.count.Added++
	return nil
}

func (im *importer) commit() error {
	if err := im.batch.Commit(); err != nil {
		return err
	}
	im.done.Added += im.count.Added
	im.done.Kept += im.count.Kept
	im.count, im.bytes = Imported{}, 0
	clear(im.pending)
	return nil
}

// end makes durable what is left, and returns the reason of the end.
func (im *importer) end(reason error) (Imported, error) {
	err := errors.Join(reason, im.commit())
	return im.done, err
}

// readerUntil reads until its context ends.
type readerUntil struct {
	ctx context.Context
	in  io.Reader
}

func (r readerUntil) Read(p []byte) (int, error) {
	if err := context.Cause(r.ctx); err != nil {
		return 0, err
	}
	return r.in.Read(p)
}
