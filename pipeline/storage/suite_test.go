package storage_test

import (
	"context"
	"crypto/rand"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest/s3faults"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// folders are folders of real storages, in which the suite makes folders of its own, and leaves them.
var folders = flag.String("storages", "", "run the suite in these folders, too: URLs with blanks in between")

func TestMain(m *testing.M) {
	*storage.MaxPause = time.Millisecond
	os.Exit(m.Run())
}

// large has more than two parts of an upload, and more than two blocks.
var large = strings.Repeat("0123456789abcdef", storage.PartSize/4)[:2*storage.PartSize+777]

// suite is what every storage does, in an empty folder.
var suite = []struct {
	name string
	run  func(t *testing.T, folder string)
}{
	{"publish", testPublish},
	{"discard", testDiscard},
	{"lost bytes", testLostBytes},
	{"replaced while read", testReplaced},
	{"read at an offset", testReadAt},
	{"read in goroutines", testReadAtInGoroutines},
	{"missing", testMissing},
	{"create", testCreateFile},
	{"folders", testFolders},
}

// objectSuite is what object storages do besides. The file system has locks instead, and does not wait for a context.
var objectSuite = append(slices.Clip(suite), []struct {
	name string
	run  func(t *testing.T, folder string)
}{
	{"two writers", testTwoWriters},
	{"versions", testVersions},
	{"ended context", testEndedContext},
}...)

// runSuite runs the suite of an object storage in folders below root.
func runSuite(t *testing.T, root string) {
	for _, c := range objectSuite {
		t.Run(c.name, func(t *testing.T) { c.run(t, disk.Join(root, rand.Text())) })
	}
}

func TestFiles(t *testing.T) {
	for _, c := range suite {
		t.Run(c.name, func(t *testing.T) { c.run(t, t.TempDir()) })
	}
}

func TestMemory(t *testing.T) {
	_, folder := storagetest.New()
	runSuite(t, folder)
}

// TestS3 also runs the suite while requests are refused, and bodies cut.
func TestS3(t *testing.T) {
	for name, fault := range map[string]s3faults.Fault{
		"": nil, "SlowDown": refuseEachOnce(), "cut": s3faults.CutEach(storage.BlockSize / 2),
	} {
		t.Run(name, func(t *testing.T) {
			s, bucket := newServer(t)
			s.disturb(fault)
			runSuite(t, bucket)
			if _, uploads := s.state(); uploads != 0 {
				t.Errorf("%d uploads stay", uploads)
			}
		})
	}
}

// refuseEachOnce answers 503 SlowDown to each request, until it is repeated.
func refuseEachOnce() s3faults.Fault {
	var refused sync.Map
	return func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
		id := r.Method + r.URL.String() + r.Header.Get("Range")
		if _, again := refused.LoadOrStore(id, true); again {
			return false
		}
		_, _ = io.Copy(io.Discard, r.Body)
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
		return true
	}
}

// TestStorages runs the suite in storages that the flag names.
func TestStorages(t *testing.T) {
	for _, folder := range strings.Fields(*folders) {
		root, err := storage.From(t.Context()).TakeParameters(folder)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(root, func(t *testing.T) { runSuite(t, root) })
	}
}

func write(t *testing.T, d disk.Draft, data string) {
	t.Helper()
	for len(data) > 0 {
		n := min(len(data), 1<<20)
		if _, err := d.Write([]byte(data[:n])); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
}

func create(t *testing.T, path string) disk.Draft {
	t.Helper()
	d, err := storage.Of(t.Context(), path).Create(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// publish writes a file.
func publish(t *testing.T, path, data string) {
	t.Helper()
	d := create(t, path)
	write(t, d, data)
	if err := d.Publish(int64(len(data))); err != nil {
		t.Fatal(err)
	}
}

// check fails the test if a file does not have the data.
func check(t *testing.T, path, data string) {
	t.Helper()
	if got, err := storage.ReadFile(t.Context(), path); err != nil || string(got) != data {
		t.Errorf("%s has %d bytes, want %d; %v", path, len(got), len(data), err)
	}
}

// checkMissing fails the test if there is a file.
func checkMissing(t *testing.T, path string) {
	t.Helper()
	if _, err := stat(t, path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s: Stat returns %v", path, err)
	}
}

// Each file replaces the one before.
func testPublish(t *testing.T, folder string) {
	path := disk.Join(folder, "out.csv")
	for _, data := range []string{"", "small", large[:storage.PartSize], large, "small again"} {
		if err := storage.Of(t.Context(), path).Prepare(t.Context(), path, false); err != nil {
			t.Errorf("Prepare: %v", err)
		}
		publish(t, path, data)
		check(t, path, data)
		if info, err := stat(t, path); err != nil || info.Size() != int64(len(data)) || info.Name() != "out.csv" {
			t.Errorf("Stat returns %v, %v", info, err)
		}
	}
}

// A draft that ends without Publish shows nothing.
func testDiscard(t *testing.T, folder string) {
	path := disk.Join(folder, "out.csv")
	for _, data := range []string{"small", large} {
		d := create(t, path)
		write(t, d, data)
		if err := d.Discard(); err != nil {
			t.Error(err)
		}
		checkMissing(t, path)
	}
}

// A draft that lost bytes is not published.
func testLostBytes(t *testing.T, folder string) {
	path := disk.Join(folder, "out.csv")
	for _, data := range []string{"small", large} {
		d := create(t, path)
		write(t, d, data)
		if err := d.Publish(int64(len(data)) + 1); err == nil {
			t.Error("no error")
		}
		if err := d.Discard(); err != nil {
			t.Error(err)
		}
		checkMissing(t, path)
	}
}

// Of two writers the second to publish fails, whether an object was there or not.
func testTwoWriters(t *testing.T, folder string) {
	for _, before := range []string{"", "old"} {
		for _, data := range []string{"new", large} {
			path := disk.Join(folder, fmt.Sprintf("%s%d.csv", before, len(data)))
			if before != "" {
				publish(t, path, before)
			}
			first, second := create(t, path), create(t, path)
			write(t, first, "first")
			if err := first.Publish(5); err != nil {
				t.Fatal(err)
			}
			write(t, second, data)
			if err := second.Publish(int64(len(data))); !errors.Is(err, storage.ErrChanged) {
				t.Errorf("%s: the second writer got %v", path, err)
			}
			if err := second.Discard(); err != nil {
				t.Error(err)
			}
			check(t, path, "first")
		}
	}
}

// An open file is one version: reading on returns its bytes, or ErrChanged.
func testReplaced(t *testing.T, folder string) {
	path := disk.Join(folder, "in.csv")
	publish(t, path, large)
	f, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	begin := make([]byte, 100)
	if _, err := io.ReadFull(f, begin); err != nil {
		t.Fatal(err)
	}
	publish(t, path, strings.ToUpper(large)+"more")
	rest, err := io.ReadAll(f)
	if err == nil && string(begin)+string(rest) != large || err != nil && !errors.Is(err, storage.ErrChanged) {
		t.Errorf("reading on returns %d bytes, %v", len(rest), err)
	}
}

// A range is of the version that is asked for. An open object is one version, so it must not look like a file, which may change.
func testVersions(t *testing.T, folder string) {
	path := disk.Join(folder, "in.csv")
	publish(t, path, "old")
	f, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, ok := f.(io.Seeker); ok {
		t.Error("package reader looks for changes of files, which have Seek")
	}
	b, key, err := storage.OpenBucket(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	read := func(version storage.Info) (string, error) {
		body, err := b.Read(t.Context(), key, version, 1, 2)
		if err != nil {
			return "", err
		}
		defer body.Close()
		text, err := io.ReadAll(body)
		return string(text), err
	}
	old, err := b.Stat(t.Context(), key)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := read(old); text != "ld" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
	publish(t, path, "new")
	if text, err := read(old); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("after a change got %q, %v", text, err)
	}
}

func testReadAt(t *testing.T, folder string) {
	path := disk.Join(folder, "in.bin")
	publish(t, path, large)
	f, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for _, offset := range []int{0, storage.BlockSize - 3, 5*storage.BlockSize + 1, 7, len(large) - 10} {
		p := make([]byte, 10)
		if n, err := f.ReadAt(p, int64(offset)); n != 10 || err != nil || string(p) != large[offset:offset+10] {
			t.Errorf("at %d: %d bytes, %v", offset, n, err)
		}
	}
	if n, err := f.ReadAt(make([]byte, 10), int64(len(large))-4); n != 4 || err != io.EOF {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
}

// Goroutines read more blocks than a source keeps, as the columns of a Parquet file are read.
func testReadAtInGoroutines(t *testing.T, folder string) {
	path := disk.Join(folder, "in.bin")
	publish(t, path, large)
	f, err := storage.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			p := make([]byte, 1000)
			for offset := g * 17; offset < len(large); offset += 700_000 {
				n, err := f.ReadAt(p, int64(offset))
				if want := large[offset:min(offset+len(p), len(large))]; string(p[:n]) != want || err != nil && n == len(p) {
					t.Errorf("at %d: %d bytes, %v", offset, n, err)
					return
				}
			}
		})
	}
	all.Wait()
}

func testMissing(t *testing.T, folder string) {
	path := disk.Join(folder, "none.csv")
	checkMissing(t, path)
	if _, err := storage.Open(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Open: %v", err)
	}
	if found, err := storage.Exists(t.Context(), path); found || err != nil {
		t.Errorf("Exists: %v, %v", found, err)
	}
	if err := storage.Remove(t.Context(), path); err != nil {
		t.Errorf("Remove: %v", err)
	}
}

// Of several programs that create a file, one does.
func testCreateFile(t *testing.T, folder string) {
	path := disk.Join(folder, "new.json")
	var created atomic.Int64
	var winner string
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			text := fmt.Sprint("of ", n)
			ours, err := storage.CreateFile(t.Context(), path, []byte(text))
			if err != nil {
				t.Error(err)
			}
			if ours && created.Add(1) == 1 {
				winner = text
			}
		})
	}
	all.Wait()
	if n := created.Load(); n != 1 {
		t.Errorf("%d programs have created the file", n)
	}
	check(t, path, winner)
	if again, err := storage.CreateFile(t.Context(), path, []byte("later")); again || err != nil {
		t.Errorf("created again: %v, %v", again, err)
	}
	check(t, path, winner)
}

// Paths and URLs name the same files and folders.
func testFolders(t *testing.T, folder string) {
	folder = disk.Join(folder, "out")
	if found, err := storage.Exists(t.Context(), folder+"/"); found || err != nil {
		t.Errorf("exists before it is made: %v", err)
	}
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for range 2 {
		for _, path := range []string{folder, disk.Join(folder, "a")} {
			if err := storage.MakeFolder(path); err != nil {
				t.Fatal(err)
			}
		}
	}
	if info, err := os.Stat(storage.Local(disk.Join(folder, "a"))); err != nil || !info.IsDir() {
		t.Errorf("the folder of the machine: %v", err)
	}
	for _, name := range []string{"a/b.csv", "a.csv", "a/c.csv", "_SUCCESS"} {
		if err := storage.Publish(t.Context(), disk.Join(folder, name), []byte(name)); err != nil {
			t.Fatal(err)
		}
	}
	if found, err := storage.IsFolder(t.Context(), folder); !found || err != nil {
		t.Errorf("IsFolder: %v, %v", found, err)
	}
	if names, err := storage.ReadDir(t.Context(), folder); err != nil || fmt.Sprint(names) != "[_SUCCESS a a.csv]" {
		t.Errorf("ReadDir returns %v, %v", names, err)
	}
	for range 2 {
		if err := storage.Remove(t.Context(), disk.Join(folder, "a.csv")); err != nil {
			t.Errorf("Remove: %v", err)
		}
	}
	if names, err := storage.ReadDir(t.Context(), folder); err != nil || fmt.Sprint(names) != "[_SUCCESS a]" {
		t.Errorf("ReadDir returns %v, %v", names, err)
	}
}

// Every call has a context.
func testEndedContext(t *testing.T, folder string) {
	url := disk.Join(folder, "in.csv")
	publish(t, url, large)
	ctx, cancel := context.WithCancel(t.Context())
	f, err := storage.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	small, upload := createIn(ctx, t, url), createIn(ctx, t, url)
	write(t, upload, large)
	cancel()
	for name, err := range map[string]error{
		"Read":           second(io.ReadAll(f)),
		"Publish":        small.Publish(0),
		"Publish, parts": upload.Publish(int64(len(large))),
		"Open":           second(storage.Open(ctx, url)),
		"ReadDir":        second(storage.ReadDir(ctx, folder)),
		"IsFolder":       second(storage.IsFolder(ctx, folder)),
		"Exists":         second(storage.Exists(ctx, url)),
		"Create":         second(storage.Of(ctx, url).Create(ctx, url)),
		"CreateFile":     second(storage.CreateFile(ctx, url, nil)),
		"Remove":         storage.Remove(ctx, url),
	} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s returns %v", name, err)
		}
	}
	if err := upload.Discard(); err != nil {
		t.Errorf("Discard: %v", err)
	}
	check(t, url, large)
}

func second[T any](_ T, err error) error { return err }

func createIn(ctx context.Context, t *testing.T, url string) disk.Draft {
	t.Helper()
	d, err := storage.Of(ctx, url).Create(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func stat(t *testing.T, path string) (fs.FileInfo, error) {
	f, err := storage.Open(t.Context(), path)
	if err != nil {
		return nil, err
	}
	defer f.Close() // only read from
	return f.Stat()
}
