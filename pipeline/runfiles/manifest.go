package runfiles

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// ReadManifest reads the manifest of a folder. The errors are those of storage.ReadFile and *account.DamagedError.
func ReadManifest(ctx context.Context, folder string) (*account.Manifest, error) {
	m := new(account.Manifest)
	if err := read(ctx, ManifestPath(folder), m); err != nil {
		return nil, fmt.Errorf("read the manifest: %w", err)
	}
	return m, nil
}

// IntactManifest is ReadManifest, but returns nil and no error if the manifest is missing or damaged.
func IntactManifest(ctx context.Context, folder string) (*account.Manifest, error) {
	m, err := ReadManifest(ctx, disk.Clean(folder))
	if _, damaged := errors.AsType[*account.DamagedError](err); damaged || isAbsent(err) {
		return nil, nil
	}
	return m, err
}

// CheckManifest says in a few words how the manifest of a folder differs from the manifest that the run has written; "" if they
// are equal. a is the account of the complete run. The error is that of reading the manifest.
func CheckManifest(ctx context.Context, folder string, a *account.Account) (problem string, err error) {
	m, err := ReadManifest(ctx, folder)
	if damaged, ok := errors.AsType[*account.DamagedError](err); ok {
		return damaged.Describe("manifest"), nil
	}
	if errors.Is(err, fs.ErrNotExist) {
		return "is missing", nil
	}
	if err != nil {
		return "", err
	}
	if changes := a.Changes(m.Service, m.Settings); len(changes) > 0 {
		return "is that of another run: " + changes[0].String(), nil
	}
	same := slices.EqualFunc(m.Parts, a.Outputs, func(p account.PublishedPart, o account.Output) bool {
		p.Path, o.Path = filepath.Base(p.Path), filepath.Base(o.Path)
		return p.Output == o
	})
	if !same {
		return "has other parts than the account", nil
	}
	return "", nil
}

// FolderSettings returns the settings with which the parts in a folder were written, also before the run has ended; nil if the
// folder has neither a manifest nor the file of shards.
func FolderSettings(ctx context.Context, folder string) (*account.Settings, error) {
	shards, err := ReadShards(ctx, folder)
	if err != nil {
		return nil, err
	}
	if shards != nil {
		return &shards.Settings, nil
	}
	m, err := IntactManifest(ctx, folder)
	if m == nil {
		return nil, err
	}
	return &m.Settings, nil
}
