package pipeline

import (
	"testing"
	"testing/synctest"
)

func TestWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWindow(80)
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
		expect("the writer is busy", 10)
		w.lend()
		expect("the writer waits", 80)
		w.lend()
		expect("it still waits", 80)
		release(20)
		expect("it is busy again: what was lent comes back first", 60)
		w.lend()
		expect("it waits once more", 80)
		release(80)
		expect("all was written", 10)

		done := false
		go func() {
			done = w.acquire(t.Context(), 80) == nil // one record as large as the window
		}()
		synctest.Wait()
		if done {
			t.Fatal("80 bytes went in beside 10")
		}
		release(10)
		w.lend()
		synctest.Wait()
		if !done {
			t.Error("a record as large as the window waits for ever")
		}
	})
}
