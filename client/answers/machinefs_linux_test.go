package answers

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/bulkcat/bulkcat/client/answers/fsync"
)

// TestSyncFS syncs files on disk, and in memory, where the kernel knows of none. Few syncs
// are made the plain way.
func TestSyncFS(t *testing.T) {
	for _, test := range []struct {
		name   string
		fs     vfs.FS
		before int64 // syncs
		plain  syncs
	}{
		{"disk, few", vfs.Default, 0, syncs{3, 3}},
		{"disk", vfs.Default, fewSyncs, syncs{}},
		{"memory", vfs.NewMem(), fewSyncs, syncs{3, 3}},
	} {
		var plain syncs
		fs, name := newSyncFS(&countingFS{test.fs, &plain}), test.name
		fs.syncs.Store(test.before)
		dir := t.TempDir()
		if err := fs.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		write := func(f vfs.File, err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
			_, err = f.Write([]byte("a line\n"))
			if err := errors.Join(err, f.SyncData(), f.Sync(), f.Close()); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
		journal, table := filepath.Join(dir, "1"+journalExt), filepath.Join(dir, "1.sst")
		write(fs.OpenReadWrite(journal, vfs.WriteCategoryUnspecified))
		write(fs.Create(table, vfs.WriteCategoryUnspecified))
		write(fs.ReuseForWrite(table, filepath.Join(dir, "2.sst"), vfs.WriteCategoryUnspecified))
		if f, err := fs.Create(filepath.Join(dir, "no", "3.sst"), vfs.WriteCategoryUnspecified); err == nil || f != nil {
			t.Errorf("%s: created in a folder that is not there: %v", name, f)
		}
		if test.before > 0 {
			s := fs.journal()
			if s == nil {
				t.Skip("this kernel syncs no file by itself")
			}
			defer s.Close()
			defer fs.others().Close()
			if test.fs == vfs.Default && refuses(t, s, journal) {
				t.Skip("this kernel syncs no file by itself")
			}
		}
		if plain != test.plain {
			t.Errorf("%s: the plain way %+v, want %+v", name, plain, test.plain)
		}
	}
}

func refuses(t *testing.T, s *fsync.Syncer, name string) bool {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	return errors.Is(s.Sync(f.Fd()), fsync.ErrRefused)
}

type syncs struct{ data, all int }

type countingFS struct {
	vfs.FS
	syncs *syncs
}

func (f *countingFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.Create(name, category)
	return &countingFile{file, f.syncs}, err
}

func (f *countingFS) OpenReadWrite(name string, category vfs.DiskWriteCategory, options ...vfs.OpenOption) (vfs.File, error) {
	file, err := f.FS.OpenReadWrite(name, category, options...)
	return &countingFile{file, f.syncs}, err
}

func (f *countingFS) ReuseForWrite(older, name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := f.FS.ReuseForWrite(older, name, category)
	return &countingFile{file, f.syncs}, err
}

type countingFile struct {
	vfs.File
	syncs *syncs
}

func (f *countingFile) Sync() error {
	f.syncs.all++
	return f.File.Sync()
}

func (f *countingFile) SyncData() error {
	f.syncs.data++
	return f.File.SyncData()
}
