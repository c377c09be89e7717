// Package finish completes a run that was split into shards. It verifies the folder of the shards, merges their rows into one
// file in input order if Options.Output is set, and marks the folder as complete.
package finish

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/output"
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/verify"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Options say what to finish. Folder is required.
type Options struct {
	Folder    string        // of all shards; a path or a URL without parameters
	Output    string        // file for the rows of all shards, a path or a URL; "" for none
	Format    writer.Format // of Output; default by its extension
	Overwrite bool          // replace Output if it exists
}

// NoShardsError says that a folder has no shards.
type NoShardsError struct{ Folder string }

func (e *NoShardsError) Error() string {
	return fmt.Sprintf("%s has no shards: %s is missing", e.Folder, runfiles.ShardsPath(e.Folder))
}

// Run verifies the shards of a folder: see verify.Options.Unfinished. If the report is balanced, Run publishes Output with its
// account, if Output is set, and then the file _SUCCESS in the folder. Otherwise Run removes _SUCCESS. Locks keep other
// processes of this machine from writing a shard or Output. The error may be a *NoShardsError, an *ExistsError, a
// *disk.BusyError if another process writes a shard or Output, a *places.OverwriteError, a *writer.FormatError, or an error of
// reading and writing files.
func Run(ctx context.Context, o Options) (report verify.Report, err error) {
	o.Folder = disk.Clean(o.Folder)
	shards, err := runfiles.ReadShards(ctx, o.Folder)
	if err != nil {
		return report, err
	}
	if shards == nil {
		return report, &NoShardsError{o.Folder}
	}
	f := &finishing{Options: o, shards: shards}
	paths := runfiles.Folders(shards, o.Folder)
	if f.Output != "" {
		if err := f.checkOutput(ctx); err != nil {
			return report, err
		}
		paths = append(paths, f.Output)
	}
	for _, path := range paths {
		lock, err := storage.TryLock(path)
		if err != nil {
			return report, err
		}
		defer lock.Release()
	}
	return f.run(ctx)
}

// finishing is the state of Run.
type finishing struct {
	Options
	shards *account.Shards
}

// checkOutput checks Output, and sets Format.
func (f *finishing) checkOutput(ctx context.Context) (err error) {
	if f.Format != "" {
		f.Format, err = writer.ParseFormat(string(f.Format))
	} else {
		f.Format, err = writer.FormatOf(f.Output)
	}
	if err != nil {
		return err
	}
	if err := f.Format.CheckShape(f.shards.Settings.Shape); err != nil {
		return err
	}
	if err := places.Protect([]string{f.Output}, f.shards.Settings.Inputs); err != nil {
		return err
	}
	switch {
	case strings.HasSuffix(f.Output, "/"):
		return fmt.Errorf("%s is a folder: name a file for the rows of all shards", f.Output)
	case places.IsWithin(f.Output, f.Folder):
		return fmt.Errorf("%s is in %s, whose readers would read its rows twice: choose a file elsewhere", f.Output, f.Folder)
	}
	exists, err := storage.Exists(ctx, f.Output)
	if err == nil && exists && !f.Overwrite {
		return &ExistsError{f.Output}
	}
	return err
}

// ExistsError says that Options.Output exists.
type ExistsError struct{ Path string }

func (e *ExistsError) Error() string { return e.Path + " exists" }

func (f *finishing) run(ctx context.Context) (report verify.Report, err error) {
	if report, err = verify.Run(ctx, verify.Options{Output: f.Folder, Unfinished: true}); err != nil {
		return report, err
	}
	success := runfiles.SuccessPath(f.Folder)
	if !report.Balanced {
		return report, storage.Remove(ctx, success)
	}
	if err := f.publish(ctx); err != nil {
		return report, err
	}
	if !storage.IsURL(f.Folder) {
		// A shard that was killed while it started may have left a draft. Other shards cannot remove it: to them it may be in
		// use.
		_, shards := disk.Split(runfiles.ShardsPath(f.Folder))
		disk.Local{}.RemoveDrafts(ctx, f.Folder, func(name string) bool { return name == shards })
	}
	return report, storage.Publish(ctx, success, nil)
}

// publish publishes the output and its account.
func (f *finishing) publish(ctx context.Context) error {
	if f.Output == "" {
		return nil
	}
	accounts, err := runfiles.Accounts(ctx, f.shards, f.Folder)
	if err != nil {
		return err
	}
	schema := output.Schema(f.shards.Settings) // the schema of a run over the whole input
	for _, c := range accounts[0].Carried {
		var typ writer.ValueType
		if err := typ.UnmarshalText([]byte(c.Type)); err != nil {
			return err
		}
		schema.Carry, schema.CarryTypes = append(schema.Carry, c.Name), append(schema.CarryTypes, typ)
	}
	sink, err := writer.Open(ctx, writer.Options{
		Storage: storage.Of(ctx, f.Output), Path: f.Output, Format: f.Format, Schema: schema, Metadata: output.Metadata(f.shards.Settings),
	})
	if err != nil {
		return err
	}
	if err := f.merge(ctx, sink); err != nil {
		return errors.Join(err, sink.Abort())
	}
	published, err := sink.Close()
	if err != nil {
		return err
	}
	a := f.shards.Merged(accounts, f.settings(), output.Entries(published))
	a.Inputs = slices.Clone(a.Inputs)
	for i, in := range a.Inputs {
		if in.Path != "" {
			a.Inputs[i].Path = f.seen(in.Path)
		}
	}
	return runfiles.Write(ctx, runfiles.AccountPath(f.Output), a)
}

// settings returns the settings of a run over the whole input that writes the output.
func (f *finishing) settings() account.Settings {
	settings := f.shards.Settings
	settings.Output, settings.OutputFormat, settings.PartRows = f.Output, string(f.Format), 0
	settings.EscapeFormulas = settings.EscapeFormulas && f.Format.Delimited() // as in a run that writes the file
	settings.InputPaths = make([]string, len(f.shards.Settings.InputPaths))
	for i, path := range f.shards.Settings.InputPaths {
		settings.InputPaths[i] = f.seen(path)
	}
	return settings
}

// seen returns the path of an input relative to the folder of the output. path is relative to the folder of the shards.
func (f *finishing) seen(path string) string {
	if runfiles.IsFile(path) && !filepath.IsAbs(path) {
		path = filepath.Join(f.Folder, path)
	}
	return runfiles.SeenFrom(f.Output, path)
}
