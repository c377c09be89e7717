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

func (d disk) OpenFilename(name *vfs.Filename, flags vfs.OpenFlag) (vfs.File, vfs.OpenFlag, error) {
	f, flags, err := d.VFSFilename.OpenFilename(name, flags)
	if err != nil {
		return nil, flags, err
	}
	return diskFile{f.(unmapped)}, flags, nil
}

// diskFile is a file without a memory map.
type diskFile struct{ unmapped }

// unmapped has what a store needs of a file: the shared memory of the WAL, and whether the file was removed or replaced. The engine
// then leaves the journal at the path alone, because it may belong to another store.
type unmapped interface {
	vfs.FileSharedMemory
	vfs.FileHasMoved
}

// WriteAt returns a distinct error if the disk is full, and so does Sync: of other errors the engine forgets the cause.
func (f diskFile) WriteAt(p []byte, off int64) (int, error) {
	n, err := f.unmapped.WriteAt(p, off)
	return n, asFull(err)
}

// Sync has the disk itself empty its cache: by default the engine does not on macOS, where a power failure then loses commits.
func (f diskFile) Sync(flags vfs.SyncFlag) error {
	return asFull(f.unmapped.Sync(flags | vfs.SYNC_FULL))
}

func asFull(err error) error {
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return vfs.SystemError(err, sqlite3.FULL)
	}
	return err
}
