package flow

import (
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
)

// An answer is in the store before Each gets it, so that a program that is killed in Each finds the answer there.
func TestEachGetsStoredAnswers(t *testing.T) {
	x := newTestRun(numbered(500)...)
	x.store = openStore(t, t.TempDir())
	defer x.store.Close()
	handed := 0
	x.each = func(record reader.Record, _ []client.Entry, err error) error {
		handed++
		request := client.Request{Kind: client.Product, Input: record.Input, Classification: client.ProductTaxonomy}
		if _, found, lookupErr := x.store.Lookup(request); !found || err != nil || lookupErr != nil {
			t.Errorf("%s is stored: %t, %v, %v", record.Input, found, err, lookupErr)
		}
		return nil
	}
	if err := x.run(t.Context()); err != nil || handed != 500 || len(x.sink.lines) != 500 {
		t.Errorf("%d answers and %d rows, %v", handed, len(x.sink.lines), err)
	}
}
