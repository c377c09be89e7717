package reader

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"reflect"
	"slices"
	"testing"
)

// countTo yields records of so many inputs and counts them.
func countTo(n int, yielded *int, returned *bool) func(yield func(Record, error) bool) {
	return func(yield func(Record, error) bool) {
		defer func() { *returned = true }()
		for range n {
			*yielded++
			if !yield(Record{Input: "a.example"}, nil) {
				return
			}
		}
	}
}

// The sequence is one record ahead at most, and has returned when Close does, however far it has been read.
func TestRecordsAreReadAsTheyCome(t *testing.T) {
	const n = 10
	for _, read := range []int{0, 1, 5, n, n + 1} {
		yielded, returned := 0, false
		r, err := Open(t.Context(), Options{Records: countTo(n, &yielded, &returned)})
		if err != nil {
			t.Fatal(err)
		}
		for i := range read {
			record, err := r.Read()
			if i < n && (err != nil || record.Number != int64(i+1) || record.Line != int64(i+1) || record.File != InMemory) || i == n && err != io.EOF {
				t.Errorf("read %d: got %+v, %v", i+1, record, err)
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		if returned != (read > 0) || yielded > read+1 {
			t.Errorf("after %d records the sequence has yielded %d, returned: %t", read, yielded, returned)
		}
		if _, err := r.Read(); err != fs.ErrClosed && read <= n {
			t.Errorf("after Close: %v", err)
		}
	}
}

func TestErrorOfRecordsIsFinal(t *testing.T) {
	for _, failure := range []error{errors.New("gone"), io.EOF, context.Canceled} {
		r, err := Open(t.Context(), Options{Records: func(yield func(Record, error) bool) {
			if yield(Record{}, failure) {
				t.Error("the sequence is asked for more")
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			_, err := r.Read()
			if at, is := errors.AsType[*ReadError](err); !is || at.Line != 1 || !errors.Is(err, failure) {
				t.Errorf("got %v", err)
			}
		}
		r.Close()
	}
}

func TestRecordsHaveColumns(t *testing.T) {
	r, err := Open(t.Context(), Options{
		Records: func(yield func(Record, error) bool) {
			fields := []string{"1", "Shoe"}
			_ = yield(Record{File: "shop", Line: 7, Input: "shoe", Fields: fields}, nil)
			fields[0] = "2"
			_ = yield(Record{Input: "hat", Fields: fields, Nulls: []bool{false, true}}, nil) && yield(Record{Input: "bag"}, nil)
		},
		RecordColumns: []string{"id", "Shop Name"}, ExtraColumns: []string{"shop_name"}, Candidates: []string{"id", "shop_name"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if place, found := r.Place("shop_name"); !found || place != 1 || !slices.Equal(r.Columns(), []string{"id", "Shop Name"}) {
		t.Errorf("got the columns %q, the second at %d", r.Columns(), place)
	}
	want := []Record{
		{Number: 1, File: "shop", Line: 7, Input: "shoe", Fields: []string{"1", "Shoe"}},
		{Number: 2, File: InMemory, Line: 2, Input: "hat", Fields: []string{"2", "Shoe"}, Nulls: []bool{false, true}},
		{Number: 3, File: InMemory, Line: 3, Input: "bag", Fields: []string{"", ""}},
	}
	for i := range want {
		if got, err := r.Read(); err != nil || !reflect.DeepEqual(got, want[i]) {
			t.Errorf("got %+v, %v", got, err)
		}
	}
	if read, total := r.Progress(); read != 0 || total != -1 || !slices.EqualFunc(r.Files(), []FileInfo{{Name: InMemory}}, func(a, b FileInfo) bool { return reflect.DeepEqual(a, b) }) {
		t.Errorf("got %d of %d bytes of %+v", read, total, r.Files())
	}
}
