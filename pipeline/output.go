package pipeline

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// folder says whether the output is a folder of parts: its path ends in "/", or the folder exists. In object storage
// only the "/" counts, for a folder does not exist without objects.
func (o *OutputOptions) folder() bool {
	if o.Path == "-" {
		return false
	}
	if storage.IsURL(o.Path) {
		return strings.HasSuffix(o.Path, "/")
	}
	info, err := os.Stat(o.Path)
	return strings.HasSuffix(o.Path, "/") || err == nil && info.IsDir()
}

func (o *OutputOptions) format() (writer.Format, error) {
	switch {
	case o.Format != "":
		format, err := writer.ParseFormat(string(o.Format))
		if err != nil {
			return "", &OptionError{"Output.Format", err}
		}
		return format, nil
	case o.folder():
		return writer.Parquet, nil
	case o.Path == "-":
		return writer.CSV, nil
	}
	return writer.FormatOf(o.Path)
}

// resolve replaces the names of carried columns by those of the input's columns that they fit.
func (o *OutputOptions) resolve(input *reader.Reader) {
	names, columns := record.Settings{Carry: o.Carry}.NamedColumns(), input.Columns()
	for i, name := range names {
		if place, found := input.Place(name); found {
			names[i] = columns[place]
		}
	}
	if len(names) > 0 {
		o.Carry = strings.Join(names, ",")
	}
}

// carried gives the names of the carried columns and their places among the input's.
func (o *OutputOptions) carried(columns []string) (names []string, places []int, err error) {
	names = record.Settings{Carry: o.Carry}.NamedColumns()
	if o.Carry == "all" {
		names = columns
	}
	for _, name := range names {
		place := slices.Index(columns, name)
		if place < 0 {
			return nil, nil, &OptionError{"Output.Carry", fmt.Errorf("the input has no column %q; it has: %s", name, strings.Join(columns, ", "))}
		}
		places = append(places, place)
	}
	return names, places, nil
}

// open opens the sink; manifest is nil unless the output is a folder.
func (o *OutputOptions) open(ctx context.Context, schema writer.Schema, metadata map[string]string, manifest *manifest) (writer.Sink, error) {
	if o.none {
		return nowhere{}, nil
	}
	format, err := o.format()
	if err != nil {
		return nil, err
	}
	options := writer.Options{
		Context: ctx, Storage: storage.Of(o.Path), Path: o.Path, Format: format, Schema: schema,
		PartRows: o.PartRows, Metadata: metadata, Stdout: o.Stdout,
	}
	if manifest != nil {
		options.Folder, options.Kept, options.Ends, options.OnPart = true, manifest.keptFiles(), manifest.Ends, manifest.addPart
	}
	return writer.Open(options)
}

// manifest is nil unless the output is a folder.
func (o *OutputOptions) manifest(ctx context.Context, account *record.Account, store *StoreOptions) (*manifest, error) {
	if !o.folder() {
		return nil, nil
	}
	m, err := openManifest(ctx, writer.Clean(o.Path), account, o.Overwrite, store.keeps)
	if err == nil && store.RefreshBudget > 0 {
		err = m.keepEnds()
	}
	return m, err
}

// makeFolder makes the folder of all shards, unless it exists, and wants other folders to exist.
func (o *SessionOptions) makeFolder() error {
	if o.Shard == (record.Shard{}) {
		return o.Output.checkFolder()
	}
	all := OutputOptions{Path: o.folderOfShards()}
	if err := all.checkFolder(); err != nil {
		return err
	}
	return storage.MakeFolder(all.Path)
}

// checkStream refuses a pipe or a device that has a name: rows would replace it, or get lost with the run.
func (o *OutputOptions) checkStream() error {
	if storage.IsURL(o.Path) {
		return nil
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil // the output is made, or another check refuses it
	}
	return &OptionError{"Output.Path", fmt.Errorf("%s is no regular file: for a pipe or a device name -, and redirect standard output", o.Path)}
}

// checkFolder wants the folder that the output lies in to exist. For an object it creates the folder of the local files.
func (o *OutputOptions) checkFolder() error {
	if storage.IsURL(o.Path) {
		return storage.MakeLocal(o.Path)
	}
	if info, err := os.Stat(filepath.Dir(filepath.Clean(o.Path))); err != nil || !info.IsDir() {
		return fmt.Errorf("%s cannot be written: its folder is not there", o.Path)
	}
	return nil
}

// claim refuses to replace an output that another run, or another program, has written. The same run
// started again writes its own output anew; the lock names the run even after a kill between the output
// and its account.
func (o *OutputOptions) claim(ctx context.Context, account *record.Account, lock *writer.Lock) error {
	if lock == nil {
		return nil
	}
	if o.folder() {
		switch shards, err := record.ReadShards(ctx, o.Path); {
		case err != nil:
			return err
		case shards != nil:
			return fmt.Errorf("%s has the shards of another run: remove the folder, or choose another", o.Path)
		}
	}
	if _, err := record.ReadAccount(ctx, record.AccountPath(o.Path)); err != nil && !o.Overwrite {
		return unreadableAccount(o.Path, err) // it may be another file
	}
	occupied, err := o.occupied(ctx)
	if err != nil {
		return err
	}
	if !o.Overwrite && occupied && lock.Claimed() != account.RunID() {
		if err := o.checkOwner(ctx, account); err != nil {
			return err
		}
	}
	return lock.Claim(account.RunID())
}

// checkEmptied refuses to replace rows by none, when the input has no records any more.
func (o *OutputOptions) checkEmptied(ctx context.Context, last *record.Account) error {
	if o.Overwrite || o.Path == "-" {
		return nil
	}
	occupied, err := o.occupied(ctx)
	if err != nil {
		return err
	}
	if !occupied || last != nil && last.Records() == 0 {
		return nil
	}
	return &OutputTakenError{Path: o.Path, Reason: "has rows, and the input has no records any more"}
}

// checkOwner looks for the run that has written the output.
func (o *OutputOptions) checkOwner(ctx context.Context, account *record.Account) error {
	if o.folder() && hasManifest(ctx, writer.Clean(o.Path)) {
		return nil // the manifest is looked at later
	}
	last, err := record.ReadAccount(ctx, record.AccountPath(o.Path))
	switch {
	case err != nil:
		return unreadableAccount(o.Path, err)
	case last == nil && account.Settings.Shard != "":
		return nil // by the file of the shards, the parts are this run's: a machine that was lost has left them
	case last == nil:
		return &OutputTakenError{Path: o.Path, Reason: "exists and has no account of a run beside it"}
	}
	return takenBy(account, last, o.Path)
}

// takenBy is the error of an output that another run has written, whose account is last; nil if it was
// the same run.
func takenBy(account, last *record.Account, output string) error {
	if changes := account.Changes(last.Service, last.Settings); len(changes) > 0 {
		return &OutputTakenError{Path: output, Reason: writtenByAnother, Changes: changes}
	}
	return nil
}

const writtenByAnother = "was written by another run"

// unreadableAccount is the error of an output whose account is damaged or another file, or the error of the storage,
// which says nothing about the account.
func unreadableAccount(output string, err error) error {
	if _, unread := errors.AsType[*fs.PathError](err); unread && storage.IsURL(output) {
		return err
	}
	return &OutputTakenError{Path: output, Reason: "has an account that cannot be read (" + err.Error() + ")"}
}

// occupied says whether the output exists; an empty folder, and one with the store of a shard, do not count.
func (o *OutputOptions) occupied(ctx context.Context) (bool, error) {
	if o.folder() && !storage.IsURL(o.Path) {
		entries, err := os.ReadDir(o.Path)
		return err == nil && slices.ContainsFunc(entries, func(e os.DirEntry) bool { return e.Name() != record.ShardStore }), nil
	}
	return storage.Exists(ctx, o.Path)
}

func (s *Session) newAccount() *record.Account {
	o := &s.options
	format, _ := o.Output.format() // checked by Open
	settings := record.Settings{
		Kind: string(o.Kind), Classification: strings.Join(o.Classifications, ","),
		Inputs: o.Input.Paths, Columns: o.Input.Columns, Scheme: o.Scheme, AskPlaceholders: o.AskPlaceholders,
		Output: o.Output.Path, OutputFormat: string(format),
		Levels: o.Output.Levels, Carry: o.Output.Carry, SourceColumns: o.Output.SourceColumns,
		Top: o.Output.Top, MinConfidence: o.Output.MinConfidence, EscapeFormulas: o.Output.EscapeFormulas,
		Limit: o.Limit, Shard: o.Shard.String(),
	}
	if o.Output.Shape != writer.ShapeLong {
		settings.Shape = string(o.Output.Shape)
	}
	if len(settings.Columns) > 1 {
		settings.Join = cmp.Or(o.Input.Join, reader.DefaultJoin)
	}
	for _, path := range o.Input.Paths {
		settings.InputPaths = append(settings.InputPaths, record.SeenFrom(o.Output.Path, path)) // does not depend on the working folder
	}
	if o.Input.Records != nil {
		settings.Inputs = []string{reader.InMemory}
	}
	if o.Output.none {
		settings.Output, settings.OutputFormat = "", ""
	}
	if o.Dedupe == record.DedupeExact {
		settings.Dedupe = o.Dedupe
	}
	if o.Output.folder() {
		settings.PartRows = o.Output.PartRows
	}
	return record.NewAccount(o.Program, o.Service.Name, settings)
}
