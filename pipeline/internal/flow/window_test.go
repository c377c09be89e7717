package flow

import (
	"testing"
	"testing/synctest"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/internal/progress"
	"github.com/bulkcat/bulkcat/reader"
)

func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow(320)
		held := 0
		// fill takes all the room there is now, in pieces of 5.
		fill := func() {
			for w.sem.TryAcquire(5) {
				held += 5
			}
		}
		expect := func(when string, want int) {
			t.Helper()
			if fill(); held != want {
				t.Fatalf("%s: %d bytes are held, want %d", when, held, want)
			}
		}
		release := func(size int) {
			held -= size
			w.release(int64(size))
		}
		open := func(times int) {
			for range times {
				w.open()
			}
		}
		expect("the writer is busy", 10)
		open(1)
		expect("the writer waits", 20)
		open(31)
		expect("it waits for long", 320)
		open(1)
		expect("it still waits", 320)
		release(20)
		expect("it is busy again: the reserve is closed first", 300)
		open(2)
		expect("it waits once more", 320)
		release(320)
		expect("all was written", 10)

		full, done := false, false
		go func() {
			done = w.acquire(t.Context(), 320, func() { full = w.isFull.Load() }) == nil // one record as large as the window
		}()
		synctest.Wait()
		if done || !full {
			t.Fatalf("320 bytes beside 10: in is %v, the reader waits is %v", done, full)
		}
		release(10)
		open(31)
		synctest.Wait()
		if !done || w.isFull.Load() {
			t.Errorf("a record as large as the window: in is %v, the reader waits is %v", done, w.isFull.Load())
		}
	})
}

// After long answers the next tasks take more room in the window.
func TestAnswersCountInTheWindow(t *testing.T) {
	r := &run{Parts: Parts{Counters: new(progress.Counters)}, rows: make(chan *rowBatch, 1), written: make(chan *rowBatch, 1)}
	r.options.Classifications = []Classification{{Name: client.ProductTaxonomy}}
	f := flattening{run: r, hard: t.Context(), batch: new(rowBatch)}
	var tasks tasks
	size := func() int64 { return tasks.next(reader.Record{}, r.answerSize.Load()).size }
	pass := func(entries int) {
		for range 10 {
			f.add(&task{answer: client.Answer{Entries: make([]client.Entry, entries)}})
		}
		r.written <- new(rowBatch)
		if !f.pass() {
			t.Fatal("not passed")
		}
		<-r.rows
	}
	short := size()
	if pass(3); size() != short {
		t.Errorf("after short answers a task takes %d bytes, before %d", size(), short)
	}
	for range 20 {
		pass(100)
	}
	if got, want := size()-short, 96*entrySize; got > want || got < want*9/10 {
		t.Errorf("after long answers a task takes %d bytes more, want about %d", got, want)
	}
	for range 40 {
		pass(1)
	}
	if got := size() - short; got > 3 {
		t.Errorf("after short ones again it takes %d bytes more", got)
	}
}
