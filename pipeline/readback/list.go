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

// check returns an error if the folder lacks parts or shards.
func (f Folder) check() error {
	switch n := len(f.Missing); n {
	case 0:
		return nil
	case 1:
		return fmt.Errorf("%s is missing, which the run has published: start it again", f.Missing[0])
	default:
		return fmt.Errorf("%s and %d other parts are missing, which the run has published: start it again", f.Missing[0], n-1)
	}
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
func FindOf(ctx context.Context, output string, a *account.Account) (parts []Part, err error) {
	settings, err := runfiles.FolderSettings(ctx, output) // have priority: the account may be that of an earlier run
	if settings == nil && a != nil {
		settings = &a.Settings
	}
	if err == nil {
		parts, err = List(ctx, output, settings)
	}
	if path, ok := errors.AsType[*os.PathError](err); ok {
		err = fmt.Errorf("read %s: %w", output, path.Err)
	}
	return parts, err
}

// List returns the files of an output in the order of their records. The settings of its run say the format of a single file,
// and whether text is escaped; if settings is nil, the extension says the format. A folder that lacks parts or shards that a run has
// published there is no whole output, but an error.
func List(ctx context.Context, path string, settings *account.Settings) ([]Part, error) {
	isFolder, err := storage.IsFolder(ctx, path)
	if err != nil {
		return nil, err
	}
	parts := []Part{{Path: path}}
	if isFolder {
		folder, err := ListFolder(ctx, path)
		if err == nil {
			err = folder.check()
		}
		if parts = folder.Parts; err != nil {
			return parts, err
		}
	} else if settings != nil {
		parts[0].Format = writer.Format(settings.OutputFormat)
	} else if parts[0].Format, err = formatOf(path); err != nil {
		return nil, err
	}
	for i := range parts {
		parts[i].Escaped = settings != nil && settings.EscapeFormulas
	}
	return parts, nil
}

// formatOf returns the format of the extension of an output that is read.
func formatOf(path string) (writer.Format, error) {
	format, err := writer.FormatOf(path)
	if err != nil {
		return "", fmt.Errorf("read %s: its extension tells no format: name the file .parquet, .csv, .tsv or .jsonl, as it was written (the text formats also with .gz or .zst)", path)
	}
	return format, nil
}

// ListFolder returns the content of a folder of parts, or of the folder of all shards. Parts of no shard, and shards of another
// split, are Others, which lack the files that query engines skip, whose names begin with "_" or ".".
func ListFolder(ctx context.Context, path string) (f Folder, err error) {
	split, err := runfiles.ReadShards(ctx, path)
	if err != nil {
		return Folder{}, err
	}
	names, err := storage.ReadDir(ctx, path)
	if err != nil {
		return Folder{}, err
	}
	var shards []Folder
	complete := 0 // of shards
	for _, name := range names {
		full := disk.Join(path, name)
		n, format, isPart := writer.PartOf(name)
		shard, isShard := account.ShardOf(name)
		switch {
		case isPart && split == nil:
			f.Parts = append(f.Parts, Part{Path: full, Format: format, Number: n})
		case isShard && (split == nil || shard.Count == split.Count):
			content, err := ListFolder(ctx, full)
			if err != nil {
				return Folder{}, err
			}
			if shards = append(shards, content); content.Complete {
				complete++
			}
		case name == writer.SuccessName:
			f.Complete = true
		case !strings.HasPrefix(name, "_") && !strings.HasPrefix(name, "."):
			f.Others = append(f.Others, full)
		}
	}
	slices.SortFunc(f.Parts, func(a, b Part) int {
		return cmp.Or(cmp.Compare(a.Number, b.Number), cmp.Compare(a.Path, b.Path))
	})
	for _, shard := range shards {
		f.Parts, f.Others, f.Missing = append(f.Parts, shard.Parts...), append(f.Others, shard.Others...), append(f.Missing, shard.Missing...)
	}
	all := len(shards)
	if split != nil {
		all = split.Count
	}
	f.Complete = f.Complete || all > 0 && complete == all
	expected, err := published(ctx, path)
	if split != nil && f.Complete { // each shard was there
		expected = runfiles.Folders(split, path)
	}
	for _, path := range expected {
		if !slices.Contains(names, filepath.Base(path)) {
			f.Missing = append(f.Missing, path)
		}
	}
	return f, err
}

// published returns the parts in the manifest of a folder; none if the manifest is missing or damaged.
func published(ctx context.Context, folder string) (paths []string, err error) {
	m, err := runfiles.IntactManifest(ctx, folder)
	if m != nil {
		for _, part := range m.Parts {
			paths = append(paths, disk.Join(folder, filepath.Base(part.Path)))
		}
	}
	return paths, err
}

// IsUnfinished reports whether an output is the folder of a run that is not complete: the run is still running, was stopped, or
// its output was held back. It returns false for a folder without a manifest, such as a folder with copies of parts.
func IsUnfinished(ctx context.Context, output string) (bool, error) {
	if settings, err := runfiles.FolderSettings(ctx, output); settings == nil {
		return false, err
	}
	folder, err := ListFolder(ctx, output)
	return !folder.Complete, err
}
