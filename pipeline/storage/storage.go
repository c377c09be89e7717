package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// Storage is where files are: the file system of the machine, or object storage, whose paths are URLs. The file system
// does not wait for a context: the account of an interrupted run is written after the end of its context.
type Storage interface {
	// Prepare, Create, ReadDir and others. The names of ReadDir are in lexical order. Remove is durable.
	writer.Storage
	// Open opens a regular file, or the present version of an object. The context also ends the reads.
	Open(ctx context.Context, path string) (reader.Source, error)
	// Stat describes a file. The error is fs.ErrNotExist if there is none.
	Stat(ctx context.Context, path string) (fs.FileInfo, error)
	// Exists reports whether there is a file, a folder or an object at path.
	Exists(ctx context.Context, path string) (bool, error)
	// IsFolder reports whether a path is a folder, or objects have names below it.
	IsFolder(ctx context.Context, path string) (bool, error)
	// CreateFile writes data to a path whole or not at all, unless a file is there. Of several programs, one creates the file.
	CreateFile(ctx context.Context, path string, data []byte) (created bool, err error)
}

// Of returns the storage of a path.
func Of(path string) Storage {
	if IsURL(path) {
		return Objects{}
	}
	return local{writer.Local}
}

// local is the file system of the machine.
type local struct{ writer.Storage }

func (local) Open(_ context.Context, path string) (reader.Source, error) { return regular.Open(path) }

func (local) Stat(_ context.Context, path string) (fs.FileInfo, error) { return os.Stat(path) }

func (local) Exists(_ context.Context, path string) (bool, error) {
	_, err := os.Lstat(path)
	return err == nil, nil
}

func (local) IsFolder(_ context.Context, path string) (bool, error) {
	info, err := os.Stat(path)
	return err == nil && info.IsDir(), err
}

func (local) CreateFile(_ context.Context, path string, data []byte) (created bool, err error) {
	return disk.CreateFile(path, data)
}

// Open opens the file at a path: see Storage.
func Open(ctx context.Context, path string) (reader.Source, error) { return Of(path).Open(ctx, path) }

// Exists reports whether there is a file, a folder or an object at path.
func Exists(ctx context.Context, path string) (bool, error) { return Of(path).Exists(ctx, path) }

// IsFolder reports whether a path is a folder, or objects have names below it.
func IsFolder(ctx context.Context, path string) (bool, error) { return Of(path).IsFolder(ctx, path) }

// ReadDir returns the names of the files and the folders in a folder, in lexical order.
func ReadDir(ctx context.Context, path string) ([]string, error) { return Of(path).ReadDir(ctx, path) }

// mostBytes bounds what ReadFile reads. The largest files of this program are the manifests of folders with a hundred
// thousand parts, which have some hundred bytes for each part.
const mostBytes = 256 << 20

// ReadFile reads a file of this program, which has 256 MiB at most.
func ReadFile(ctx context.Context, path string) ([]byte, error) {
	f, err := Open(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return regular.ReadAll(f, path, mostBytes)
}

// Publish writes data to a path whole or not at all: see writer.PublishFile.
func Publish(ctx context.Context, path string, data []byte) error {
	return writer.PublishIn(ctx, Of(path), path, data)
}

// CreateFile writes data to a path whole or not at all, unless a file or an object is there.
func CreateFile(ctx context.Context, path string, data []byte) (created bool, err error) {
	return Of(path).CreateFile(ctx, path, data)
}

// Remove removes a file or an object, if there is one.
func Remove(ctx context.Context, path string) error {
	if err := Of(path).Remove(ctx, path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// PublishDraft publishes a draft with what write writes, and discards the draft after an error.
func PublishDraft(draft writer.Draft, write func(io.Writer) (size int64, err error)) error {
	size, err := write(draft)
	if err == nil {
		err = draft.Publish(size)
	}
	if err != nil {
		return errors.Join(err, draft.Discard())
	}
	return nil
}
