package s3

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

const (
	websites  = 4000
	perSecond = 400         // requests
	every     = time.Second // between copies
)

// machine is a folder with a list that is to be categorized, with a copy of the store in the bucket.
type machine struct {
	w       *world
	dir     string
	service *clienttest.Endpoint
}

func (w *world) machine(s *clienttest.Endpoint) *machine {
	w.t.Helper()
	m := &machine{w: w, dir: w.t.TempDir(), service: s}
	var list strings.Builder
	list.WriteString("website\n")
	for n := range websites {
		fmt.Fprintf(&list, "site%d.example\n", n)
	}
	if err := os.WriteFile(filepath.Join(m.dir, "in.csv"), []byte(list.String()), 0o666); err != nil {
		w.t.Fatal(err)
	}
	return m
}

func (m *machine) run(more ...string) *exec.Cmd {
	args := append([]string{"website", "in.csv", "-o", "out.csv", "--rate", fmt.Sprintf("%d/s", perSecond)}, more...)
	cmd := m.w.run(filepath.Join(m.dir, "state"), args...)
	cmd.Dir = m.dir
	cmd.Env = append(cmd.Env, "BULKCAT_BASE_URL="+m.service.URL(), "BULKCAT_API_KEY=key")
	return cmd
}

func (m *machine) output() []byte {
	m.w.t.Helper()
	text, err := os.ReadFile(filepath.Join(m.dir, "out.csv"))
	if err != nil {
		m.w.t.Fatal(err)
	}
	return text
}

// lists are the times of the lists of the copy in the bucket, as far as they were seen.
type lists []time.Time

func (l *lists) look(w *world) {
	var list struct{ Updated time.Time }
	text, err := os.ReadFile(filepath.Join(w.bucket, "backup", "store.json"))
	if err == nil && json.Unmarshal(text, &list) == nil && (len(*l) == 0 || !list.Updated.Equal((*l)[len(*l)-1])) {
		*l = append(*l, list.Updated)
	}
}

// A machine is lost in the middle of a run: another machine begins from the copy and repeats the requests since the
// last copy.
func TestLostMachine(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		slowDown int64
		bound    time.Duration // 0 if a copy may take any time
	}{
		{"none", 0, 5 * every},
		{"503 SlowDown", 8, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			w.slowDown.Store(c.slowDown)
			s := run.Service(t, clienttest.Options{Latency: 10 * time.Millisecond})
			plain := w.machine(run.Service(t, clienttest.Options{}))
			w.must(plain.run("--rate", "0"))
			backup := []string{"--store-backup", "s3://bucket/backup", "--store-backup-every", every.String()}

			lost := w.machine(s)
			cmd := lost.run(backup...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			var seen lists
			for began := time.Now(); len(s.Answers()) < websites/2 || len(seen) < 3; time.Sleep(10 * time.Millisecond) {
				if seen.look(w); time.Since(began) > time.Minute {
					t.Fatalf("%d answers, %d lists\n%s", len(s.Answers()), len(seen), cmd.Stderr)
				}
			}
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
			killed, answered := time.Now(), len(s.Answers())
			seen.look(w)
			if err := os.RemoveAll(lost.dir); err != nil {
				t.Fatal(err)
			}

			next := w.machine(s)
			cmd = next.run(backup...)
			w.must(cmd)
			if text := fmt.Sprint(cmd.Stderr); !strings.Contains(text, "restored from its copy") || !strings.Contains(text, "up to date") {
				t.Errorf("the next run says\n%s", text)
			}
			if !bytes.Equal(next.output(), plain.output()) {
				t.Error("the rows are not those of an undisturbed run")
			}
			repeated, oldest := 0, time.Duration(0)
			for _, visits := range s.Answers() {
				if len(visits) > 1 {
					repeated++
					oldest = max(oldest, killed.Sub(visits[0].Left))
				}
			}
			t.Logf("%d requests were answered before the kill, %d are repeated, the oldest was answered %v before", answered, repeated, oldest.Round(time.Millisecond))
			if c.bound > 0 && (oldest > c.bound || repeated > int(c.bound.Seconds()*perSecond)) {
				t.Errorf("more than those of %v are repeated", c.bound)
			}
			// The last copy began after the list before it was published.
			if began := seen[len(seen)-2].Add(-100 * time.Millisecond); killed.Add(-oldest).Before(began) {
				t.Errorf("an answer of %v before the last copy began is repeated", began.Sub(killed.Add(-oldest)))
			}
		})
	}
}
