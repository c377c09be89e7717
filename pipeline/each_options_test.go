package pipeline_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

func TestOptionsOfRecordsAndEach(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(o *pipeline.Options)
		want   string
	}{
		"no input":                {func(o *pipeline.Options) { o.Input.Records = nil }, "pipeline.Input.Paths"},
		"paths as well":           {func(o *pipeline.Options) { o.Input.Paths = []string{"in.csv"} }, "reader.Records"},
		"a format":                {func(o *pipeline.Options) { o.Input.Format = "csv" }, "reader.Records"},
		"an input column":         {func(o *pipeline.Options) { o.Input.Columns = []string{"title"} }, "reader.Records"},
		"columns without records": {func(o *pipeline.Options) { *o = productsWithColumns(t) }, "reader.RecordColumns"},
		"no such column": {func(o *pipeline.Options) {
			o.Output.Path, o.Output.Carry = filepath.Join(t.TempDir(), "out.csv"), "sku"
		}, "reader.ExtraColumns"},
		"a refresh":               {func(o *pipeline.Options) { o.Store.RefreshBudget = 1 }, "pipeline.Store.RefreshBudget"},
		"neither output nor Each": {func(o *pipeline.Options) { o.Each = nil }, "pipeline.Output.Path"},
		"a folder of parts":       {func(o *pipeline.Options) { o.Output.Path = t.TempDir() + "/" }, "pipeline.Each"},
		"a shard without output":  {func(o *pipeline.Options) { o.Shard = account.Shard{Number: 1, Count: 2} }, "pipeline.Output.Path"},
	} {
		t.Run(name, func(t *testing.T) {
			l := newLibrary(t, titles(1, new(bool)))
			tt.change(&l.options)
			session, err := pipeline.Open(t.Context(), l.options)
			var option interface{ OptionName() string }
			if !errors.As(err, &option) || option.OptionName() != tt.want {
				t.Errorf("got %v, want an error of %s", err, tt.want)
			}
			if err == nil {
				session.Close()
			}
		})
	}
}

func productsWithColumns(t *testing.T) pipeline.Options {
	o := products(t, new(counting))
	o.Input.RecordColumns = []string{"sku"}
	return o
}
