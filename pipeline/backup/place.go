package backup

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// place is where a copy is: a folder, or a URL that ends in one.
type place struct {
	ctx     context.Context // of all calls
	dir     string
	storage storage.Storage
}

func openPlace(ctx context.Context, dir string) (place, error) {
	dir, err := storage.TakeParameters(dir)
	if err != nil {
		return place{}, err
	}
	return place{ctx, dir, storage.Of(dir)}, nil
}

// prepare makes the folder.
func (p place) prepare() error {
	if storage.IsURL(p.dir) {
		return nil
	}
	return os.MkdirAll(p.dir, 0o777)
}

func (p place) path(name string) string { return writer.Join(p.dir, name) }

func (p place) open(name string) (reader.Source, error) { return p.storage.Open(p.ctx, p.path(name)) }

// put publishes an object with what write writes, whole or not at all.
func (p place) put(name string, write func(io.Writer) (size int64, err error)) error {
	draft, err := p.storage.Create(p.ctx, p.path(name))
	if err != nil {
		return err
	}
	return storage.PublishDraft(draft, write)
}

// remove reports whether the object is gone.
func (p place) remove(name string) bool {
	err := p.storage.Remove(p.ctx, p.path(name))
	return err == nil || errors.Is(err, fs.ErrNotExist)
}

// lock keeps other processes from replacing the list in a folder. In object storage the storage itself compares
// versions.
func (p place) lock() (*disk.Lock, error) {
	if storage.IsURL(p.dir) {
		return nil, nil
	}
	return disk.WaitLock(p.path(listName))
}
