package flow

import (
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/writer"
)

// A carried column without its index in the records is an error, and not a column of nulls.
func TestRunRefusesCarriedColumnWithoutIndex(t *testing.T) {
	var out strings.Builder
	options := Options{Schema: writer.Schema{Carry: []string{"id"}}}
	sink, err := writer.Open(t.Context(), writer.Options{Path: "-", Format: writer.CSV, Schema: options.Schema, Stdout: &out})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Run(t.Context(), Parts{Sink: sink}, options); err == nil || !strings.Contains(err.Error(), "Schema.Carry") {
		t.Errorf("got %v", err)
	}
	if err := sink.Write(nil); err != writer.ErrClosed {
		t.Errorf("the sink is open: %v", err)
	}
	if out.Len() > 0 {
		t.Errorf("the sink wrote %q", out.String())
	}
}
