package finish

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/pipeline/verify"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
	"github.com/bulkcat/bulkcat/writer/disk"
)

const shards = 3

// service answers every request alike.
type service struct{ meanwhile func() }

func (s service) Attempt(_ context.Context, r client.Request) (client.Answer, error) {
	if s.meanwhile != nil {
		s.meanwhile()
	}
	return client.ParseAnswer([]byte(`{"`+r.Classification+`":[{"value":"Pets > Dogs","confidence":0.5}]}`), r.Classification)
}

// sharded is an input, and the folder of its shards.
type sharded struct {
	t             *testing.T
	input, folder string
	meanwhile     func() // before each answer; may be nil
}

// inFiles and inObjects are the places of a folder. The local files of objects are in a folder of their own.
func inFiles(t *testing.T) string {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return t.TempDir()
}

func inObjects(t *testing.T) string {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	return "mem://" + rand.Text() + "/lists"
}

// everywhere runs a test with files and with objects.
func everywhere(t *testing.T, test func(s *sharded)) {
	for name, root := range map[string]func(*testing.T) string{"files": inFiles, "objects": inObjects} {
		t.Run(name, func(t *testing.T) {
			test(newSharded(t, root(t)))
		})
	}
}

func newSharded(t *testing.T, root string) *sharded {
	s := &sharded{t: t, input: disk.Join(root, "in.csv"), folder: disk.Join(root, "out")}
	var list strings.Builder
	list.WriteString("title,number\n")
	for n := range 40 {
		fmt.Fprintf(&list, "dog collar %d,%d\n", n%30, n)
	}
	s.publish(s.input, list.String())
	return s
}

func (s *sharded) check(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func (s *sharded) publish(path, text string) {
	s.t.Helper()
	s.check(storage.Publish(s.t.Context(), path, []byte(text)))
}

func (s *sharded) read(path string) []byte {
	s.t.Helper()
	data, err := storage.ReadFile(s.t.Context(), path)
	s.check(err)
	return data
}

// run runs a shard; the zero shard is the whole input.
func (s *sharded) run(number, count int, output string) error {
	s.t.Helper()
	options := pipeline.Options{
		Kind: client.Product, Service: pipeline.Service{Attempter: service{s.meanwhile}, Name: "service", Hosted: true},
		Input:  reader.Options{Paths: []string{s.input}},
		Output: pipeline.OutputOptions{Path: output, Format: writer.CSV, PartRows: 4, Carry: "all"},
		Limits: limits.Options{Rate: math.Inf(1)},
	}
	if count > 0 {
		options.Shard = account.Shard{Number: number, Count: count}
	}
	session, err := pipeline.Open(s.t.Context(), options)
	if err != nil {
		return err
	}
	_, err = session.Run(s.t.Context())
	return errors.Join(err, session.Close())
}

// runAll runs all shards.
func (s *sharded) runAll() {
	s.t.Helper()
	for n := range shards {
		s.check(s.run(n+1, shards, s.folder+"/"))
	}
}

// beside is the path of a file beside the folder.
func (s *sharded) beside(name string) string { return strings.TrimSuffix(s.folder, "out") + name }

// part is the path of the first part of a shard.
func (s *sharded) part(number int) string {
	return disk.Join(s.folder, fmt.Sprintf("shard=%02d-of-%d/part-00001.csv", number, shards))
}

func (s *sharded) finish(output string) (verify.Report, error) {
	return Run(s.t.Context(), Options{Folder: s.folder, Output: output})
}

// finished reports whether the folder has the file that says so.
func (s *sharded) finished() bool {
	s.t.Helper()
	found, err := storage.Exists(s.t.Context(), runfiles.SuccessPath(s.folder))
	s.check(err)
	return found
}

// The merged file is that of a run over the whole input, here and elsewhere.
func TestMerge(t *testing.T) {
	everywhere(t, func(s *sharded) {
		s.runAll()
		s.check(s.run(0, 0, s.beside("whole.csv")))
		for _, merged := range []string{s.beside("merged.csv"), filepath.Join(s.t.TempDir(), "merged.csv"), disk.Join(inObjects(s.t), "merged.csv")} {
			report, err := s.finish(merged)
			if err != nil || !report.Balanced || report.Records != 40 || !s.finished() {
				s.t.Fatalf("%s: %+v, %v", merged, report, err)
			}
			if !bytes.Equal(s.read(merged), s.read(s.beside("whole.csv"))) {
				s.t.Errorf("%s: the rows are not those of a run over the whole input", merged)
			}
			a, err := runfiles.ReadAccount(s.t.Context(), runfiles.AccountPath(merged))
			if err != nil || a == nil || a.Ending != account.Complete || a.Counts.Written != 40 {
				s.t.Errorf("%s: the account is %+v, %v", merged, a, err)
			}
		}
	})
}

// A shard that was killed as it started has left a draft of the file that all shards share: finish removes it.
func TestDraftOfAKilledShard(t *testing.T) {
	s := newSharded(t, t.TempDir())
	s.runAll()
	draft := filepath.Join(s.folder, "._shards.json.tmp-4711-0123456789abcdef")
	s.check(os.WriteFile(draft, nil, 0o666))
	if report, err := s.finish(""); err != nil || !report.Balanced {
		t.Fatalf("%+v, %v", report, err)
	}
	if _, err := os.Stat(draft); err == nil {
		t.Error("the draft stays")
	}
}

// A folder in which a shard is missing, or is damaged later, is not finished.
func TestUnbalanced(t *testing.T) {
	everywhere(t, func(s *sharded) {
		merged := s.beside("merged.csv")
		unbalanced := func(want string) {
			s.t.Helper()
			report, err := s.finish(merged)
			s.check(err)
			found, err := storage.Exists(s.t.Context(), merged)
			if report.Balanced || !strings.Contains(fmt.Sprint(report.Findings), want) || found || err != nil || s.finished() {
				s.t.Errorf("got %+v, want %s; a merged file: %v, %v", report, want, found, err)
			}
		}
		s.check(s.run(1, shards, s.folder+"/"))
		unbalanced("the shard has not started")
		s.runAll()
		if report, err := s.finish(""); err != nil || !report.Balanced || !s.finished() {
			s.t.Fatalf("%+v, %v", report, err)
		}
		text := s.read(s.part(2))
		s.publish(s.part(2), string(bytes.Replace(text, []byte("Dogs"), []byte("Cats"), 1)))
		unbalanced("sha256")
		s.publish(s.part(2), string(text))
		s.publish(disk.Join(s.folder, "part-00001.csv"), string(text))
		unbalanced("part-00001.csv: file: expected none, got one")
	})
}

// A shard that continues asks for its folder to be finished again, also after the loss of its machine between a part
// and its manifest. A run with another count is refused.
func TestShardsStartedAgain(t *testing.T) {
	everywhere(t, func(s *sharded) {
		s.runAll()
		_, err := s.finish("")
		s.check(err)
		before := s.read(s.part(2))
		shard, _ := disk.Split(s.part(2))
		s.t.Setenv("XDG_STATE_HOME", s.t.TempDir()) // of another machine
		for _, name := range []string{"_manifest.json", "_run.json", "_SUCCESS"} {
			s.check(storage.Remove(s.t.Context(), disk.Join(shard, name)))
		}
		s.check(s.run(2, shards, s.folder+"/"))
		if s.finished() || !bytes.Equal(s.read(s.part(2)), before) {
			s.t.Errorf("the folder is finished before it is checked again, or the part has changed")
		}
		report, err := s.finish("")
		if err != nil || !report.Balanced || !s.finished() {
			s.t.Errorf("%+v, %v", report, err)
		}
		var other *account.ShardCountError
		if err := s.run(2, shards+1, s.folder+"/"); !errors.As(err, &other) || other.Count != shards || !s.finished() {
			s.t.Errorf("a shard of another count: %v", err)
		}
	})
}

// A shard that another machine has published meanwhile fails, and leaves the account of the other machine.
func TestShardOnTwoMachines(t *testing.T) {
	s := newSharded(t, inObjects(t))
	s.runAll()
	shard, _ := disk.Split(s.part(2))
	a := runfiles.AccountPath(shard + "/")
	theirs, rows := s.read(a), s.read(s.part(2))
	for _, path := range []string{a, s.part(2), disk.Join(shard, "_manifest.json")} {
		s.check(storage.Remove(s.t.Context(), path))
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir()) // of another machine
	s.meanwhile = sync.OnceFunc(func() {
		s.publish(s.part(2), string(rows))
		s.publish(a, string(theirs))
	})
	if err := s.run(2, shards, s.folder+"/"); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("the late run ended with %v", err)
	}
	if !bytes.Equal(s.read(a), theirs) || !bytes.Equal(s.read(s.part(2)), rows) {
		t.Error("the late run has replaced the account or the part")
	}
}

// Of shards that start at the same time, one fixes the count.
func TestFirstShardFixesTheCount(t *testing.T) {
	everywhere(t, func(s *sharded) {
		errs := make(chan error)
		for count := 2; count < 6; count++ {
			go func() { errs <- s.run(1, count, s.folder+"/") }()
		}
		started := 0
		for range 4 {
			var other *account.ShardCountError
			if err := <-errs; err == nil {
				started++
			} else if !errors.As(err, &other) {
				s.t.Errorf("got %v", err)
			}
		}
		if started != 1 {
			s.t.Errorf("%d counts were fixed", started)
		}
	})
}

// TestShardsStartTogether has a shard start between two looks of another at the folder: after the file of the shards was
// found missing, and before the folder is listed.
func TestShardsStartTogether(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	bucket, root := storagetest.New()
	s := newSharded(t, root)
	var started atomic.Bool
	bucket.Disturb(func(op, key string) error {
		if op != "stat" || key != "out/_shards.json" || started.Swap(true) {
			return nil
		}
		s.check(s.run(1, 2, s.folder+"/"))
		return fs.ErrNotExist
	})
	if err := s.run(1, 3, s.folder+"/"); errorAs[*account.ShardCountError](err) == nil {
		t.Errorf("got %v", err)
	}
}

// TestManifestsAreChecked damages the manifest of a shard, without which the shard cannot be started again.
func TestManifestsAreChecked(t *testing.T) {
	for name, damage := range map[string]func(s *sharded, path string) error{
		"missing": func(_ *sharded, path string) error { return storage.Remove(t.Context(), path) },
		"cut off": func(s *sharded, path string) error {
			text := s.read(path)
			return storage.Publish(t.Context(), path, text[:len(text)/2])
		},
		"changed": func(s *sharded, path string) error {
			return storage.Publish(t.Context(), path, bytes.Replace(s.read(path), []byte(`"rows": `), []byte(`"rows": 1`), 1))
		},
		"empty": func(_ *sharded, path string) error { return storage.Publish(t.Context(), path, nil) },
		"of another shard": func(s *sharded, path string) error {
			return storage.Publish(t.Context(), path, s.read(strings.Replace(path, "shard=02", "shard=01", 1)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			everywhere(t, func(s *sharded) {
				s.runAll()
				s.check(damage(s, runfiles.ManifestPath(disk.Join(s.folder, account.Shard{Number: 2, Count: shards}.Folder()))))
				report, err := s.finish("")
				s.check(err)
				if report.Balanced || s.finished() || len(report.Findings) != 1 || report.Findings[0].What != "manifest" {
					s.t.Errorf("got %+v", report.Findings)
				}
			})
		})
	}
}

// TestLinksIntoTheFolder names a file in the folder of the shards by way of links.
func TestLinksIntoTheFolder(t *testing.T) {
	s := newSharded(t, inFiles(t))
	s.runAll()
	s.check(os.Symlink(s.folder, s.beside("link")))
	s.check(os.Symlink(filepath.Join(s.folder, account.Shard{Number: 2, Count: shards}.Folder()), s.beside("deep")))
	for _, output := range []string{"link/rows.csv", "deep/rows.csv", "link/../out/rows.csv"} {
		if _, err := s.finish(filepath.Dir(s.folder) + "/" + output); err == nil || !strings.Contains(err.Error(), "would read its rows twice") {
			t.Errorf("%s: got %v", output, err)
		}
	}
	if _, err := s.finish(""); err != nil || !s.finished() {
		t.Errorf("got %v", err)
	}
}

// What Run refuses to write.
func TestRefused(t *testing.T) {
	everywhere(t, func(s *sharded) {
		if _, err := s.finish(""); errorAs[*NoShardsError](err) == nil {
			s.t.Errorf("without shards: %v", err)
		}
		s.runAll()
		s.publish(s.beside("mine.csv"), "mine")
		for output, want := range map[string]string{
			s.beside("mine.csv"):            "exists",
			s.input:                         "is read by this run",
			disk.Join(s.folder, "rows.csv"): "would read its rows twice",
			s.beside("rows.txt"):            "rows.txt",
		} {
			if _, err := s.finish(output); err == nil || !strings.Contains(err.Error(), want) {
				s.t.Errorf("%s: %v, want %s", output, err, want)
			}
		}
		if _, err := Run(s.t.Context(), Options{Folder: s.folder, Output: s.beside("rows/"), Format: writer.CSV}); err == nil || !strings.Contains(err.Error(), "is a folder") {
			s.t.Errorf("a folder: %v", err)
		}
		if string(s.read(s.beside("mine.csv"))) != "mine" || s.finished() {
			s.t.Error("a refused call has written")
		}
		if _, err := Run(s.t.Context(), Options{Folder: s.folder, Output: s.beside("mine.csv"), Overwrite: true}); err != nil || !s.finished() {
			s.t.Errorf("with Overwrite: %v", err)
		}
		shard, _ := disk.Split(s.part(3))
		lock, err := disk.TryLock(storage.Local(shard))
		s.check(err)
		defer lock.Release()
		if _, err := s.finish(""); errorAs[*disk.BusyError](err) == nil || !strings.Contains(err.Error(), fmt.Sprint(os.Getpid())) {
			s.t.Errorf("while a shard runs: %v", err)
		}
	})
}

func errorAs[E error](err error) error {
	if e, ok := errors.AsType[E](err); ok {
		return e
	}
	return nil
}
