package answers

import (
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client/statefolder"
)

// UserFile returns the path of the user's store, which may not exist yet. The error is a *statefolder.Error.
func UserFile() (string, error) {
	folder, err := statefolder.Path()
	if err != nil {
		return "", err
	}
	return filepath.Join(folder, "answers.db"), nil
}

// networkOf returns the name of the network file system of a path, which need not exist; "" for a local file system. Tests
// replace it.
var networkOf = func(path string) string {
	for folder := filepath.Dir(path); ; folder = filepath.Dir(folder) {
		if _, err := os.Stat(folder); err == nil || folder == filepath.Dir(folder) {
			return systemOf(folder)
		}
	}
}

// checkPlace returns an error of the kind Network for a shared store on a network file system.
func (o *Options) checkPlace() error {
	if o.Exclusive {
		return nil
	}
	if system := networkOf(o.Path); system != "" {
		return &Error{o.Path, Network, errors.New(system)}
	}
	return nil
}

// Bytes of the first page: https://sqlite.org/fileformat.html#the_database_header.
const (
	magic         = "SQLite format 3\x00"
	application   = "bcat"
	headerBytes   = 100
	pageSizeAt    = 16
	reservedAt    = 20
	versionAt     = 60
	applicationAt = 68
)

// inspect reads the header of a file. The error is of the kind Missing, Foreign, Newer, Damaged or Failed. A header with a few wrong bits counts as a damaged store.
func inspect(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && info.Size() == 0 {
		return &Error{path, Missing, nil}
	}
	if err != nil {
		return &Error{path, Failed, err}
	}
	if !info.Mode().IsRegular() {
		return &Error{path, Foreign, nil}
	}
	f, err := os.Open(path)
	if err != nil {
		return &Error{path, Failed, err}
	}
	defer f.Close() // only read from
	header := make([]byte, headerBytes)
	n, _ := io.ReadFull(f, header)
	if n < applicationAt+4 {
		return &Error{path, Foreign, nil}
	}
	if v := binary.BigEndian.Uint32(header[versionAt:]); v > version && v <= 0xff && string(header[applicationAt:applicationAt+4]) == application {
		return &Error{path, Newer, nil}
	}
	wrong := 0
	for _, field := range []struct {
		at   int
		want string
	}{
		{0, magic},
		{pageSizeAt, string([]byte{pageSize >> 8, pageSize & 0xff})},
		{reservedAt, string([]byte{checksumBytes})},
		{versionAt, "\x00\x00\x00\x01"},
		{applicationAt, application},
	} {
		for i := range field.want {
			wrong += bits.OnesCount8(header[field.at+i] ^ field.want[i])
		}
	}
	switch {
	case wrong == 0:
		return nil
	case wrong > 8:
		return &Error{path, Foreign, nil}
	}
	return &Error{path, Damaged, errors.New("the first page is wrong")}
}

// Check returns nil if path is a store, even a damaged store, or if a store can be made there. The error is of the kind Foreign,
// Newer or Failed.
func Check(path string) error {
	if err := inspect(path); !errors.Is(err, Missing) && !errors.Is(err, Damaged) {
		return err
	}
	return nil
}

// IsStore reports whether a file is a store, even a damaged store.
func IsStore(path string) bool {
	err := inspect(path)
	return err == nil || errors.Is(err, Damaged)
}

// Files returns the paths of the files of a store: the database, its WAL, its shared memory and its rollback journal. It
// resolves symbolic links.
func Files(path string) []string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return []string{path, path + "-wal", path + "-shm", path + "-journal"}
}
