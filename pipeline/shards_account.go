package pipeline

import (
	"context"
	"path/filepath"
	"reflect"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// Accounts are the accounts of all shards, by number; nil where there is none. The error is that of ReadAccount.
func (s *Shards) Accounts(ctx context.Context, folder string) ([]*Account, error) {
	accounts := make([]*Account, s.Count)
	for i, shard := range s.Folders(folder) {
		var err error
		if accounts[i], err = ReadAccount(ctx, AccountPath(shard)); err != nil {
			return nil, err
		}
	}
	return accounts, nil
}

// WriteAccount writes the account of the file into which the rows of all shards were merged. Its counts are the sums
// of those of the shards.
func (s *Shards) WriteAccount(ctx context.Context, folder string, accounts []*Account, output string, format writer.Format, published writer.Published) error {
	settings := s.Settings
	settings.Output, settings.OutputFormat, settings.PartRows = output, string(format), 0
	settings.EscapeFormulas = settings.EscapeFormulas && format.Delimited() // as a run that writes the file has it
	settings.InputPaths = make([]string, len(s.Settings.InputPaths))
	for i, path := range s.Settings.InputPaths {
		if path != "-" && !storage.IsURL(path) && !filepath.IsAbs(path) {
			path = filepath.Join(folder, path)
		}
		settings.InputPaths[i] = seenFrom(output, path)
	}
	a := newAccount(s.Bulkcat, s.Service, settings)
	a.Started, a.Inputs, a.Carried = accounts[0].Started, accounts[0].Inputs, accounts[0].Carried
	var counts Snapshot
	for _, shard := range accounts {
		if shard.Started.Before(a.Started) {
			a.Started = shard.Started
		}
		counts.add(&shard.Counts)
		a.Overlapped = a.Overlapped || shard.Overlapped
	}
	counts.Others = 0 // each record is of another shard for all but one
	a.finish(nil, counts, published)
	return a.write(ctx, AccountPath(output))
}

// add adds the counts of another run. The reasons are left out.
func (s *Snapshot) add(other *Snapshot) {
	addIntegers(reflect.ValueOf(s).Elem(), reflect.ValueOf(other).Elem())
	attempts := make(Attempts)
	for _, list := range []Attempts{s.Attempts, other.Attempts} {
		for name, n := range list {
			attempts[name] += n
		}
	}
	s.Attempts = attempts
}

// addIntegers adds all int64 fields of two structs, and of the structs in these.
func addIntegers(sum, other reflect.Value) {
	for i := range sum.NumField() {
		switch field := sum.Field(i); field.Kind() {
		case reflect.Int64:
			field.SetInt(field.Int() + other.Field(i).Int())
		case reflect.Struct:
			addIntegers(field, other.Field(i))
		}
	}
}
