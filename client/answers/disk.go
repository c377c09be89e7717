package answers

import (
	"errors"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// diskName is the file system of the machine for the engine, without memory maps: with checksums of pages the engine maps
// no memory, and its file system fails when a page that it believes to be mapped is given back.
const diskName = "bulkcat"

func init() { vfs.Register(diskName, disk{vfs.Find("os").(vfs.VFSFilename)}) }

type disk struct{ vfs.VFSFilename }

func (d disk) Open(name string, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.Open(name, flags)
	return unmapped(f), flags, err
}

func (d disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.OpenFilename(name, flags)
	return unmapped(f), flags, err
}

func unmapped(f vfs.File) vfs.File {
	if f == nil {
		return nil
	}
	return diskFile{f}
}

// diskFile is a file without a memory map.
type diskFile struct{ vfs.File }

func (f diskFile) Unwrap() vfs.File { return f.File }

// SharedMemory is that of the journal in WAL mode.
func (f diskFile) SharedMemory() vfs.SharedMemory {
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

// HasMoved reports whether the file was removed or replaced. The engine then leaves the journal at the path alone when it
// closes the file: the journal may be that of another store.
func (f diskFile) HasMoved() (bool, error) {
	if file, ok := f.File.(vfs.FileHasMoved); ok {
		return file.HasMoved()
	}
	return false, nil
}

// WriteAt tells a full disk apart from a broken one, and so does Sync.
func (f diskFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, named(err)
}

func (f diskFile) Sync(flags vfs.SyncFlag) error { return named(f.File.Sync(flags)) }

func named(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}
