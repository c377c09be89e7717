package answers

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

// commitLong commits answers with keys that soon fill logs, and bodies of some size.
func commitLong(s *Store, from, to, body int) error {
	b := s.NewBatch()
	for i := from; i < to; i++ {
		r, o := numbered(i)
		r.Input += strings.Repeat("/long", 2000)
		o.Answer.Body = append(o.Answer.Body, bytes.Repeat([]byte(" "), body)...)
		if err := b.Add(r, o, false); err != nil {
			return err
		}
	}
	return b.Commit()
}

// TestFaultsOfWrites lets what is done with journal, segments and the database's log fail, in
// commits, where answers move, and where one log follows another: each must end in an error of
// the store, and not in the end of the process.
func TestFaultsOfWrites(t *testing.T) {
	const batches, size = 50, 30
	write := []errorfs.OpKind{errorfs.OpFileWrite, errorfs.OpFileWriteAt}
	sync := []errorfs.OpKind{errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo}
	for _, tt := range []struct {
		ext   string
		what  string
		kinds []errorfs.OpKind
		nth   []int64
	}{
		{logExt, "create", []errorfs.OpKind{errorfs.OpCreate, errorfs.OpReuseForWrite}, []int64{1}},
		{logExt, "write", write, []int64{1, 4}},
		{logExt, "sync", sync, []int64{1, 2}},
		{journalExt, "write", write, []int64{1, 4}},
		{journalExt, "sync", sync, []int64{1, 4}},
		{journalExt, "rename", []errorfs.OpKind{errorfs.OpRename}, []int64{1}},
		{segmentExt, "write", write, []int64{1, 2}},
		{segmentExt, "sync", sync, []int64{1}},
	} {
		for _, nth := range tt.nth {
			t.Run(fmt.Sprint(tt.what, tt.ext, nth), func(t *testing.T) {
				t.Parallel()
				var full atomic.Bool
				var seen atomic.Int64
				disk := vfs.NewCrashableMem()
				s := open(t, Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
					if !full.Load() || filepath.Ext(op.Path) != tt.ext {
						return nil
					}
					for _, kind := range tt.kinds {
						if op.Kind == kind && seen.Add(1) >= nth {
							return syscall.ENOSPC
						}
					}
					return nil
				}))})
				full.Store(true)
				var err error
				committed := 0
				for err == nil && committed < batches*size {
					if err = commitLong(s, committed, committed+size, 0); err == nil {
						committed += size
						_, err = guard(s.fate, func() (struct{}, error) { return struct{}{}, s.mustWrite(s.move()) })
					}
				}
				var failed *FailedError
				if !errors.As(err, &failed) || !errors.Is(err, syscall.ENOSPC) || s.Close() != failed {
					t.Fatalf("%d of %d: got %v", seen.Load(), nth, err)
				}
				again := open(t, Options{FS: disk.CrashClone(vfs.CrashCloneCfg{})})
				defer closed(t, again)
				if got := strings.Count(export(t, again), "\n"); got < committed {
					t.Errorf("%d answers of %d are there", got, committed)
				}
			})
		}
	}
}
