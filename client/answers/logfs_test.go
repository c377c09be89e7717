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

// commitLong commits answers with keys that soon fill logs and what is held back.
func commitLong(s *Store, from, to int) error {
	b := s.NewBatch()
	for i := from; i < to; i++ {
		r, o := numbered(i)
		r.Input += strings.Repeat("/long", 2000)
		o.Answer.Body = append(o.Answer.Body, bytes.Repeat([]byte(" "), 20_000)...)
		if err := b.Add(r, o, 0); err != nil {
			return err
		}
	}
	return errors.Join(b.Commit(), b.Close())
}

// TestFaultsOfTheLog lets what is done with logs fail, in commits and where keys move and
// one log follows another: each must end in an error of the store, and not in the end of
// the process.
func TestFaultsOfTheLog(t *testing.T) {
	const batches, size = 50, 30
	for name, kinds := range map[string][]errorfs.OpKind{
		"create": {errorfs.OpCreate, errorfs.OpReuseForWrite},
		"write":  {errorfs.OpFileWrite},
		"sync":   {errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo},
	} {
		for _, nth := range []int64{1, 2, 4} {
			t.Run(fmt.Sprint(name, nth), func(t *testing.T) {
				t.Parallel()
				var full atomic.Bool
				var seen atomic.Int64
				disk := vfs.NewCrashableMem()
				s := open(t, Options{FS: errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
					if !full.Load() || filepath.Ext(op.Path) != ".log" {
						return nil
					}
					for _, kind := range kinds {
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
					if err = commitLong(s, committed, committed+size); err == nil {
						committed += size
					}
				}
				var failed *FailedError
				if !errors.As(err, &failed) || !errors.Is(err, syscall.ENOSPC) || s.Close() != failed {
					t.Fatalf("%d of %d: got %v", seen.Load(), nth, err)
				}
				again := open(t, Options{FS: disk.CrashClone(vfs.CrashCloneCfg{})})
				defer closed(t, again)
				if got := again.last(); got < Position(committed) {
					t.Errorf("%d answers of %d are there", got, committed)
				}
			})
		}
	}
}
