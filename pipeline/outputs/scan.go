package outputs

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
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
	f, err := Open(ctx, p, nil)
	if err != nil {
		return err
	}
	defer f.Close()
	if f.names == nil { // JSONL without rows
		return nil
	}
	schema, n, err := writer.SchemaOf(f.names)
	if err != nil {
		return err
	}
	own := schema.Leaves()[:n]
	if f.parquet != nil {
		return inOrder(ctx, f.parquet.jobs(own, columns), use)
	}
	in, err := decompress(bufio.NewReaderSize(f.body, 64<<10))
	if err != nil {
		return err
	}
	defer in.Close()
	return inOrder(ctx, f.jobs(in, own, columns), use)
}

// job fills an empty batch.
type job func(*Batch) error

// mostWorkers bounds the batches that are filled at a time, and so the memory.
const mostWorkers = 8

// inOrder calls next until it returns io.EOF, runs the jobs in several goroutines, and calls use with the batches in the
// order of the jobs.
func inOrder(ctx context.Context, next func() (job, error), use func(*Batch) error) error {
	workers := min(runtime.GOMAXPROCS(0), mostWorkers)
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
			fill, err := next()
			if err != nil {
				slot <- filled{nil, err}
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
				err := fill(b)
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
			if b.err == io.EOF {
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
