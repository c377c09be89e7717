package account

import (
	"reflect"
	"testing"

	"github.com/bulkcat/bulkcat/writer"
)

// Each status has a count of its own.
func TestByStatus(t *testing.T) {
	var s Statuses
	for i, status := range writer.Statuses {
		s.Add(status)
		if n := s.Sum(); n != int64(i+1) || *s.WithStatus(status) != 1 {
			t.Errorf("%s: %+v", status, s)
		}
	}
	if s.Add("other"); s.Sum() != int64(reflect.TypeFor[ByStatus[int64]]().NumField()) {
		t.Errorf("got %+v", s)
	}
}
