package loop

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// Phase is the part of a run in which a kill happens.
type Phase string

// The phases. Most faults can occur only in a few milliseconds of a run, which random moments would seldom hit.
const (
	Startup  Phase = "start-up" // in the first 60 ms
	Anywhere Phase = "anywhere" // over the duration of a whole run
	Commit   Phase = "commit"   // just after an answer was sent
	Publish  Phase = "publish"  // just after a file has appeared
)

// Phases are all phases; each has the same chance.
var Phases = []Phase{Startup, Anywhere, Commit, Publish}

// moment waits for the time of a kill. It returns early when the context ends.
type moment func(ctx context.Context, dir string)

// never is the moment of a start that is not killed.
func never(ctx context.Context, _ string) { <-ctx.Done() }

// moment returns a random moment of a phase.
func (l *loop) moment(phase Phase, service *clienttest.Endpoint) moment {
	switch phase {
	case Startup:
		return after(l.within(60 * time.Millisecond))
	case Anywhere:
		return after(l.within(l.longest()))
	case Commit:
		answered, delay := service.After(1+l.random.IntN(l.Records)), l.within(5*time.Millisecond)
		return func(ctx context.Context, dir string) {
			select {
			case <-answered:
				after(delay)(ctx, dir)
			case <-ctx.Done():
			}
		}
	default: // Publish
		return appearance(l.random.IntN(4), l.within(2*time.Millisecond))
	}
}

// within returns a random duration below d.
func (l *loop) within(d time.Duration) time.Duration {
	return time.Duration(l.random.Int64N(int64(d)))
}

// longest returns the longest duration of an undisturbed command.
func (l *loop) longest() time.Duration {
	longest := time.Millisecond
	for _, r := range l.references {
		if r != nil {
			longest = max(longest, r.duration)
		}
	}
	return longest
}

func after(d time.Duration) moment {
	return func(ctx context.Context, _ string) {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
		}
	}
}

// appearance returns the moment delay after the change with the index n of the file names in the cycle's folder: the draft of
// the output, a part, the manifest, the account.
func appearance(n int, delay time.Duration) moment {
	return func(ctx context.Context, dir string) {
		seen := names(dir)
		for changes := 0; changes <= n; {
			if after(100*time.Microsecond)(ctx, dir); ctx.Err() != nil {
				return
			}
			if now := names(dir); now != seen {
				seen = now
				changes++
			}
		}
		after(delay)(ctx, dir)
	}
}

// names returns the names of the files of the output and the account as one string, without
// the hidden folders of runs.
func names(dir string) string {
	var all strings.Builder
	for _, dir := range []string{dir, filepath.Join(dir, folder)} {
		entries, _ := os.ReadDir(dir) // no entries if the folder does not exist yet
		for _, e := range entries {
			if filepath.Ext(e.Name()) != ".run" {
				all.WriteString(e.Name() + "\n")
			}
		}
	}
	return all.String()
}
