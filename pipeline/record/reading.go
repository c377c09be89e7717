package record

import "github.com/bulkcat/bulkcat/reader"

// Reading says how a run has read its inputs, as far as the user has said so: the options of package reader. The zero value
// is the default.
type Reading struct {
	Format   string `json:"format,omitempty"`
	Sheet    string `json:"sheet,omitempty"`
	Dialect  string `json:"dialect,omitempty"`
	Encoding string `json:"encoding,omitempty"`
}

// ReadingOf returns how options read inputs.
func ReadingOf(o reader.Options) Reading {
	return Reading{Format: o.Format, Sheet: o.Sheet, Dialect: o.Dialect.String(), Encoding: o.Encoding}
}

// Options returns options that read inputs as the run has read them.
func (r Reading) Options() reader.Options {
	dialect, _ := reader.ParseDialect(r.Dialect) // which is the text of a dialect
	return reader.Options{Format: r.Format, Sheet: r.Sheet, Dialect: dialect, Encoding: r.Encoding}
}
