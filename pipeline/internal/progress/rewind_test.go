package progress

import (
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

// Each number is of the records, which a further pass counts anew, or of the requests, which go on.
func TestRewind(t *testing.T) {
	c := new(Counters)
	counts := reflect.ValueOf(&c.Counts).Elem()
	each := func(use func(name, of string, counter *atomic.Int64)) {
		for i := range counts.NumField() {
			field := counts.Type().Field(i)
			of, value := field.Tag.Get(account.CountOf), counts.Field(i)
			if counter, ok := value.Addr().Interface().(*atomic.Int64); ok {
				use(field.Name, of, counter)
				continue
			}
			for j := range value.NumField() {
				use(field.Name+"."+value.Type().Field(j).Name, of, value.Field(j).Addr().Interface().(*atomic.Int64))
			}
		}
	}
	each(func(_, _ string, counter *atomic.Int64) { counter.Store(7) })
	c.Rewind()
	each(func(name, of string, counter *atomic.Int64) {
		want, known := map[string]int64{account.OfRecords: 0, account.OfRequests: 7}[of]
		if !known {
			t.Errorf("%s: the tag %s is %q, want %s or %s", name, account.CountOf, of, account.OfRecords, account.OfRequests)
		}
		if got := counter.Load(); got != want {
			t.Errorf("%s is %d after Rewind, want %d", name, got, want)
		}
	})
}
