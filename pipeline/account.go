package pipeline

import (
	"cmp"
	"context"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/reader"
)

func (s *Session) newAccount() *record.Account {
	o := &s.options
	format, _ := o.Output.FileFormat() // checked by Open
	settings := record.Settings{
		Kind: string(o.Kind), Classification: strings.Join(o.Classifications, ","), Edition: o.Editions.Versions(o.Classifications),
		Inputs: o.Input.Paths, Columns: o.Input.Columns, Requested: o.Requested,
		Output: o.Output.Path, OutputFormat: string(format), Carry: o.Output.Carry, Form: o.Output.Form, Shard: o.Shard.String(),
	}
	if len(settings.Columns) > 1 {
		settings.Join = cmp.Or(o.Input.Join, reader.DefaultJoin)
	}
	for _, path := range o.Input.Paths {
		settings.InputPaths = append(settings.InputPaths, record.SeenFrom(o.Output.Path, path)) // does not depend on the working folder
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
	account := record.NewAccount(o.Program, o.Service.Name, settings)
	account.StatusFile = record.StatusPath(o.Output.Path)
	account.Price, account.Reading = o.Price, record.ReadingOf(o.Input)
	for _, m := range o.AllModels() {
		account.Models = append(account.Models, describeModel(m))
	}
	return account
}

// follow adds the earlier starts of the run to its account, and sets the deadline. It gives the last account of the output,
// nil if there is none, and whether it is that of the same run.
func (s *Session) follow(ctx context.Context, account *record.Account) (last *record.Account, isSame bool) {
	output := s.options.Output.Path
	last, err := record.ReadAccount(ctx, record.AccountPath(output))
	if err != nil {
		s.options.Log.Warn("the account does not count the earlier runs", "reason", err)
	}
	isSame = account.Follow(last)
	if journal := record.JournalPath(output); journal != "" {
		starts, err := record.ReadStarts(journal, account.RunID())
		if err != nil {
			s.options.Log.Warn("the account does not count the starts that were killed", "reason", err)
		}
		account.AddStarts(starts)
	}
	account.SetDeadline(s.options.FinishBy)
	return last, isSame
}

// describeModel says what the account has of a model.
func describeModel(m *learn.Model) record.Model {
	d := record.Model{
		Classification: m.Classification, Fingerprint: m.Fingerprint(), Labels: m.Labels, Categories: len(m.Classes), Right: m.Report.Top1, Without: m.Engine,
	}
	for _, confidence := range []float64{0.9, 0.7, 0.5} {
		if a := m.From(confidence); a.Rows > 0 {
			d.From = append(d.From, record.ModelAccuracy{Confidence: confidence, Inputs: float64(a.Rows) / float64(m.Compared), Right: float64(a.Right) / float64(a.Rows)})
		}
	}
	return d
}

// readInputs says what was read of each file.
func (s *Session) readInputs() []record.Input {
	files := s.input.Load().Files()
	inputs := make([]record.Input, len(files))
	for i, file := range files {
		inputs[i] = record.Input{Name: file.Name, Bytes: file.Bytes, SHA256: file.SHA256, Whole: file.Whole, Comments: file.Comments}
		if file.Guessed && len(file.Inputs) > 0 {
			inputs[i].Guessed = file.Inputs[0]
		}
		if s.options.Input.Records == nil {
			inputs[i].Path = record.SeenFrom(s.options.Output.Path, file.Name)
		}
	}
	return inputs
}

// warnChanged warns of inputs whose beginning has changed since the last run. The rows follow the
// present input; answers are stored by input, so none of them is wrong.
func (s *Session) warnChanged(account, last *record.Account) {
	account.Changed = last.ChangedInputs(s.options.Output.Path)
	for _, name := range account.Changed {
		s.options.Log.Warn("the input has changed before its end since the last run: the output follows the present input", "file", name)
	}
}

// warnMisfits warns of values that are null in the output, and are not null in the input.
func (s *Session) warnMisfits() {
	first := s.counters.FirstMisfit.Load()
	if first == nil {
		return
	}
	s.options.Log.Warn("some values do not fit the types of their columns, and are null in the output; CSV and JSONL keep them",
		"values", s.counters.Misfits.Load(), "first", first.Place, "column", first.Column.Name,
		"type", first.Column.Type, "value", clipped(first.Value))
}

// clipped is the beginning of a long value, for messages.
func clipped(value string) string {
	const most = 80
	if len(value) <= most {
		return value
	}
	return strings.ToValidUTF8(value[:most], "") + "..."
}

// warnUnknownKeys warns of members of JSON objects that came too late to become columns.
func (s *Session) warnUnknownKeys() {
	if names, records := s.input.Load().UnknownKeys(); records > 0 {
		s.options.Log.Warn("no column carries some members of records, because the beginning of the input does not have them: name them in the option carry",
			"members", strings.Join(names, ","), "records", records)
	}
}
