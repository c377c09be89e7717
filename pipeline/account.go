package pipeline

import (
	"cmp"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/reader"
)

// settings returns the settings of the run for its account.
func (o *Options) settings() account.Settings {
	format, _ := o.Output.FileFormat() // checked by Open
	settings := account.Settings{
		Kind: string(o.Kind), Classification: strings.Join(o.Classifications, ","), Edition: o.Editions.Versions(o.Classifications),
		Inputs: o.Input.Paths, Columns: o.Input.Columns, Requested: o.Requested,
		Output: o.Output.Path, OutputFormat: string(format), Carry: o.Output.Carry, Form: o.Output.Form, Shard: o.Shard,
	}
	if len(settings.Columns) > 1 {
		settings.Join = cmp.Or(o.Input.Join, reader.DefaultJoin)
	}
	for _, path := range o.Input.Paths {
		settings.InputPaths = append(settings.InputPaths, runfiles.SeenFrom(o.Output.Path, path)) // does not depend on the working folder
	}
	if o.Input.Records != nil {
		settings.Inputs, settings.InputPaths = []string{reader.InMemory}, []string{reader.InMemory}
	}
	if o.noOutput {
		settings.Output, settings.OutputFormat = "", ""
	}
	if o.Free.Model != nil {
		settings.Free, settings.Precision, settings.Audit = o.Free.source(), o.Free.Precision, o.Free.Audit
	}
	if o.Output.IsFolder() {
		settings.PartRows = o.Output.PartRows
	}
	return settings
}

// readingOf returns what the account has of the options of the reader.
func readingOf(o reader.Options) account.Reading {
	return account.Reading{Format: o.Format, Sheet: o.Sheet, Dialect: o.Dialect.String(), Encoding: o.Encoding}
}

// readAs returns options that read inputs as a run has read them.
func readAs(r account.Reading) reader.Options {
	dialect, _ := reader.ParseDialect(r.Dialect) // the text of Dialect.String
	return reader.Options{Format: r.Format, Sheet: r.Sheet, Dialect: dialect, Encoding: r.Encoding}
}

// describeModel returns the account's description of a model.
func describeModel(m *learn.Model) account.Model {
	d := account.Model{
		Classification: m.Classification, Fingerprint: m.Fingerprint(), Labels: m.Labels, Categories: len(m.Classes), Right: m.Report.Top1, Without: m.Engine,
	}
	for _, confidence := range []float64{0.9, 0.7, 0.5} {
		if a := m.From(confidence); a.Rows > 0 {
			d.From = append(d.From, account.ModelAccuracy{Confidence: confidence, Inputs: float64(a.Rows) / float64(m.Compared), Right: float64(a.Right) / float64(a.Rows)})
		}
	}
	return d
}

// inputsOf returns the account's entry of each file that was read.
func (o *Options) inputsOf(input *reader.Reader) []account.Input {
	files := input.Files()
	inputs := make([]account.Input, len(files))
	for i, file := range files {
		inputs[i] = account.Input{Name: file.Name, Bytes: file.Bytes, SHA256: file.SHA256, Whole: file.Whole, Comments: file.Comments}
		if file.Guessed && len(file.Inputs) > 0 {
			inputs[i].Guessed = strings.Join(file.Inputs, ", ")
		}
		if o.Input.Records == nil {
			inputs[i].Path = runfiles.SeenFrom(o.Output.Path, file.Name)
		}
	}
	return inputs
}

// mostShown is the most bytes of a value in a message.
const mostShown = 80
