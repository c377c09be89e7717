package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// An interrupted run whose output is in a storage that hangs ends after its grace period, resumable, whatever call
// hangs. It does not say that something is wrong with the output there.
func TestInterruptedWhileTheStorageHangs(t *testing.T) {
	const grace, outputGrace = 2 * time.Second, 5 * time.Second
	for name, tt := range map[string]struct {
		op, key string
		want    string // of the error
		before  int    // calls that do not hang
	}{
		"the output":          {"publish", "out.csv", "the storage did not answer within 7s of the interruption", 0},
		"the account":         {"publish", "out.csv.run.json", "the storage did not answer within 7s of the interruption", 0},
		"the earlier account": {"stat", "out.csv.run.json", "context canceled", 0},
		"its content":         {"read", "out.csv.run.json", "context canceled", 1},
		"whether it is there": {"stat", "out.csv", "context canceled", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, interrupt := context.WithCancel(t.Context())
				bucket, folder := storagetest.New()
				o := products(t, new(counting))
				o.Grace, o.Store.Path = grace, filepath.Join(t.TempDir(), "answers.db")
				o.Output.Path = disk.Join(folder, "out.csv")
				if tt.op == "read" {
					bucket.Set("copy/"+tt.key, "{}")
				}
				hangs := make(chan struct{}, 100)
				bucket.Disturb(func(op, key string) error {
					if op != tt.op || key != tt.key {
						return nil
					}
					if tt.before--; tt.before >= 0 {
						return nil
					}
					hangs <- struct{}{}
					return storagetest.ErrHang
				})
				session, err := pipeline.Open(ctx, o)
				if err != nil {
					t.Fatal(err)
				}
				defer session.Close()
				ended := make(chan error)
				go func() {
					_, err := session.Run(ctx)
					ended <- err
				}()
				<-hangs
				interrupted := time.Now()
				interrupt()
				err = <-ended
				if taken := time.Since(interrupted); taken > grace+outputGrace {
					t.Errorf("the run ends after %v", taken)
				}
				stop, isStop := errors.AsType[*pipeline.StopError](err)
				if text := fmt.Sprint(err); !strings.Contains(text, tt.want) || strings.Contains(text, "account that cannot be read") {
					t.Errorf("got %v, want %q", err, tt.want)
				}
				if isStop && stop.Cause != account.Interrupted || !isStop && !errors.Is(err, context.Canceled) {
					t.Errorf("the run does not count as interrupted: %v", err)
				}
			})
		})
	}
}
