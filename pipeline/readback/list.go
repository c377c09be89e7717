package readback

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Part is a file of an output.
type Part struct {
	Path   string
	Format writer.Format
	Number int // in its folder, from 1; 0 for an output of one file

	Escaped bool // text in CSV and TSV is escaped: see writer.UnescapeFormula

	Columns []writer.Column // if they are known; nil to find them by their names
}

// Folder is the content of an output that is a folder of parts.
type Folder struct {
	Parts    []Part   // in the order of their records
	Others   []string // the paths of unexpected files
	Missing  []string // the paths of parts and shards that were published and that the folder lacks
	Complete bool     // writer.SuccessName is there
}

// MissingPartError says that a folder lacks parts or shards that a run has published there. The folder is no whole output.
type MissingPartError struct {
	Path  string // the first missing part
	Count int    // the number of missing parts
}

func (e *MissingPartError) Error() string {
	if e.Count > 1 {
		return fmt.Sprintf("%s and %d other parts are missing, which the run has published: start it again", e.Path, e.Count-1)
	}
	return e.Path + " is missing, which the run has published: start it again"
}

// Find returns the files of an output, as List does, and the account beside the output; nil if the account is missing. The
// account has the format of a file, whatever its extension. The account, or the folder itself, also says whether text is
// escaped. If only the files are missing, the account is returned with an error that is fs.ErrNotExist.
func Find(ctx context.Context, output string) ([]Part, *account.Account, error) {
	output = runfiles.ToRead(output)
	a, err := runfiles.ReadAccount(ctx, runfiles.AccountPath(output))
	if err != nil {
		return nil, nil, err
	}
	parts, err := FindOf(ctx, output, a)
	return parts, a, err
}

// FindOf is Find with the account, which may be nil.
func FindOf(ctx context.Context, output string, a *account.Account) ([]Part, error) {
	var format writer.Format
	if a != nil {
		format = writer.Format(a.Settings.OutputFormat)
	}
	parts, err := List(ctx, output, format)
	if err == nil {
		err = markEscaped(ctx, output, parts, a)
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = fmt.Errorf("read %s: %w", output, path.Err)
	}
	return parts, err
}

// markEscaped sets Escaped of the files of an output. The settings of the folder have priority: the account may be that of an
// earlier run.
func markEscaped(ctx context.Context, output string, parts []Part, a *account.Account) (err error) {
	var settings *account.Settings
	if len(parts) > 0 && parts[0].Number > 0 {
		if settings, err = runfiles.FolderSettings(ctx, output); err != nil {
			return err
		}
	}
	if settings == nil && a != nil {
		settings = &a.Settings
	}
	for i := range parts {
		parts[i].Escaped = settings != nil && settings.EscapeFormulas
	}
	return nil
}

// List returns the files of an output in the order of their records. format is the format of a single file; "" for the format
// of the file's extension. The error is a *[MissingPartError] if a folder lacks parts.
func List(ctx context.Context, path string, format writer.Format) ([]Part, error) {
	isFolder, err := storage.IsFolder(ctx, path)
	if err != nil {
		return nil, err
	}
	if isFolder {
		folder, err := ListFolder(ctx, path)
		if err == nil && len(folder.Missing) > 0 {
			err = &MissingPartError{Path: folder.Missing[0], Count: len(folder.Missing)}
		}
		return folder.Parts, err
	}
	if format == "" {
		format, err = FormatOf(path)
	}
	return []Part{{Path: path, Format: format}}, err
}

// FormatOf returns the format of the extension of an output that is read.
func FormatOf(path string) (writer.Format, error) {
	format, err := writer.FormatOf(path)
	if err != nil {
		return "", fmt.Errorf("read %s: its extension tells no format: name the file .parquet, .csv, .tsv or .jsonl, as it was written (the text formats also with .gz or .zst)", path)
	}
	return format, nil
}

// ListFolder returns the content of a folder of parts, or of the folder of all shards. Parts of no shard, and shards of another
// split, are Others, which lack the files that query engines skip, whose names begin with "_" or ".".
func ListFolder(ctx context.Context, path string) (Folder, error) {
	names, err := storage.ReadDir(ctx, path)
	if err != nil {
		return Folder{}, err
	}
	split, err := runfiles.ReadShards(ctx, path)
	if err != nil {
		return Folder{}, err
	}
	var f Folder
	var shards []Folder
	var found []int // their numbers
	for _, name := range names {
		full := disk.Join(path, name)
		if n, format, ok := writer.PartOf(name); ok && split == nil {
			f.Parts = append(f.Parts, Part{Path: full, Format: format, Number: n})
		} else if name == writer.SuccessName {
			f.Complete = true
		} else if shard, ok := account.ShardOf(name); ok && (split == nil || shard.Count == split.Count) {
			content, err := ListFolder(ctx, full)
			if err != nil {
				return Folder{}, err
			}
			shards, found = append(shards, content), append(found, shard.Number)
		} else if !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, ".") {
			f.Others = append(f.Others, full)
		}
	}
	slices.SortFunc(f.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Path, b.Path))
	})
	if f.Missing, err = missing(ctx, path, names); err != nil {
		return Folder{}, err
	}
	allComplete := len(shards) > 0
	for n := 1; split != nil && n <= split.Count; n++ {
		if !slices.Contains(found, n) {
			allComplete = false
			if f.Complete { // the shard was there
				f.Missing = append(f.Missing, disk.Join(path, account.Shard{Number: n, Count: split.Count}.Folder()))
			}
		}
	}
	for _, shard := range shards {
		f.Parts, f.Others = append(f.Parts, shard.Parts...), append(f.Others, shard.Others...)
		f.Missing = append(f.Missing, shard.Missing...)
		allComplete = allComplete && shard.Complete
	}
	f.Complete = f.Complete || allComplete
	return f, nil
}

// IsUnfinished reports whether an output is the folder of a run that is not complete: the run is still running, was stopped, or
// its output was held back. It returns false for a folder without a manifest, such as a folder with copies of parts.
func IsUnfinished(ctx context.Context, output string) (bool, error) {
	isFolder, err := storage.IsFolder(ctx, output)
	if err != nil || !isFolder {
		return false, err
	}
	if settings, err := runfiles.FolderSettings(ctx, output); settings == nil {
		return false, err
	}
	folder, err := ListFolder(ctx, output)
	return !folder.Complete, err
}

// missing returns the parts in the manifest of a folder that are not among the names; none if the manifest is damaged.
func missing(ctx context.Context, folder string, names []string) (paths []string, err error) {
	if !slices.Contains(names, filepath.Base(runfiles.ManifestPath(folder))) {
		return nil, nil
	}
	m, err := runfiles.IntactManifest(ctx, folder)
	if m == nil {
		return nil, err
	}
	for _, part := range m.Parts {
		if name := filepath.Base(part.Path); !slices.Contains(names, name) {
			paths = append(paths, disk.Join(folder, name))
		}
	}
	return paths, nil
}
