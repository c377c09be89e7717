package answers

import (
	"errors"
	"syscall"

	"github.com/ncruces/go-sqlite3"
	"github.com/ncruces/go-sqlite3/vfs"
)

// diskName is the engine's name of the machine's file system without memory maps. With page checksums the engine maps no memory,
// and the engine's own file system fails when it unmaps a page that was never mapped.
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

// SharedMemory returns the shared memory of the WAL.
func (f diskFile) SharedMemory() vfs.SharedMemory {
	if shared, ok := f.File.(vfs.FileSharedMemory); ok {
		return shared.SharedMemory()
	}
	return nil
}

// HasMoved reports whether the file was removed or replaced. If so, the engine does not touch the journal at the path when it
// closes the file: the journal may belong to another store.
func (f diskFile) HasMoved() (bool, error) {
	if file, ok := f.File.(vfs.FileHasMoved); ok {
		return file.HasMoved()
	}
	return false, nil
}

// WriteAt returns a distinct error if the disk is full, and so does Sync.
func (f diskFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.File.WriteAt(p, off)
	return n, asFull(err)
}

func (f diskFile) Sync(flags vfs.SyncFlag) error { return asFull(f.File.Sync(flags)) }

func asFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}
