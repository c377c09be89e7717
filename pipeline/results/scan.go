package results

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"

	"github.com/bulkcat/bulkcat/writer"
)

// Scan calls use with the rows of the files, in order. A group never spans two files.
func Scan(ctx context.Context, parts []Part, columns Columns, use func(*Batch) error) error {
	for _, p := range parts {
		if err := scanPart(ctx, p, columns, use); err != nil {
			return fmt.Errorf("read %s: %w", p.Path, cause(err))
		}
	}
	return nil
}

// cause is err without the path, which the caller adds.
func cause(err error) error {
	if p, ok := errors.AsType[*os.PathError](err); ok {
		return p.Err
	}
	return err
}

func scanPart(ctx context.Context, p Part, columns Columns, use func(*Batch) error) error {
	if content, _, _ := strings.Cut(string(p.Format), "."); writer.Format(content) == writer.Parquet {
		return scanParquet(ctx, p.Path, columns, use)
	}
	f, err := OpenFile(p.Path, p.Format, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.Columns() == nil { // JSONL without rows
		return nil
	}
	places, err := placesOf(f.Columns())
	if err != nil {
		return err
	}
	text := newTextScan(f, places, columns)
	return inOrder(ctx, 1, text.fill, use)
}

// placesOf returns the indexes of the columns among the names of a file, without those that an optional column lacks.
func placesOf(found []string) (map[Columns]int, error) {
	places := make(map[Columns]int, len(names))
	at := 0
	has := func(name string, ofEntry bool) bool {
		return at < len(found) && (found[at] == name || ofEntry && found[at] == listPrefix+name)
	}
	for _, n := range names {
		if n.column == Error {
			for level := 1; has(fmt.Sprintf("level_%d", level), true); level++ {
				at++
			}
		}
		if n.column == AnsweredAt && has("source", false) && at+1 < len(found) && found[at+1] == n.name {
			at++
		} else if n.column == AnsweredAt {
			continue // a carried column may have the name
		}
		if has(n.name, n.ofEntry) {
			places[n.column] = at
			at++
		} else if !n.optional {
			return nil, fmt.Errorf("not an output of bulkcat: column %d is not %q", at+1, n.name)
		}
	}
	return places, nil
}

// listPrefix begins the names of the columns that are members of the structs in the list of the shape nested.
const listPrefix = "categories."

// inOrder calls fill with 0, 1, 2, ... and empty batches, in so many goroutines, until it returns io.EOF, and calls use
// with the batches in this order. With one worker, the calls of fill are in order and one at a time.
func inOrder(ctx context.Context, workers int, fill func(i int, b *Batch) error, use func(*Batch) error) error {
	type filled struct {
		*Batch
		err error
	}
	var (
		queue   = make(chan chan filled, workers)
		running = make(chan struct{}, workers)
		free    = make(chan *Batch, workers+2) // whose memory can be used again
		all     sync.WaitGroup
	)
	defer all.Wait()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	all.Go(func() {
		for i := 0; ; i++ {
			slot := make(chan filled, 1)
			select {
			case running <- struct{}{}:
			case <-ctx.Done():
				return
			}
			select {
			case queue <- slot:
			case <-ctx.Done():
				return
			}
			all.Go(func() {
				b := new(Batch)
				select {
				case b = <-free:
					b.reset()
				default:
				}
				b.First = i == 0
				err := fill(i, b)
				<-running
				slot <- filled{b, err}
			})
		}
	})
	for {
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case slot := <-queue:
			b := <-slot
			if errors.Is(b.err, io.EOF) {
				return nil
			}
			if b.err != nil {
				return b.err
			}
			if err := use(b.Batch); err != nil {
				return err
			}
			free <- b.Batch
		}
	}
}
