//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

// diskWorkers is the number of requests in flight.
const diskWorkers = 4

// TestFullDisk runs bulkcat on a disk that becomes full: the run fails at once, names the file, stops asking,
// publishes no incomplete file, and goes on when there is room.
func TestFullDisk(t *testing.T) {
	tests := []struct {
		name     string
		disk     int      // size in KiB; 0 for as much as the output needs, and no more
		args     []string // DISK and ROOM are folders on the full disk and on another disk
		names    string   // a path that the error has
		output   string
		requests int // after the disk was full, without those in flight
	}{
		// The last page holds some more answers, and others wait to be committed.
		{"store", 56, []string{"-o", "ROOM/out.csv", "--store", "DISK/store"}, "DISK/store", "ROOM/out.csv", 4096 / 64},
		{"output", 168, []string{"-o", "DISK/out.csv", "--store", "ROOM/store"}, "DISK/out.csv", "DISK/out.csv", 0},
		{"part", 168, []string{"-o", "DISK/out/", "--output-format", "csv", "--part-rows", "300", "--store", "ROOM/store"}, "DISK/out/part-0000", "DISK/out", 0},
		{"account", 0, []string{"-o", "DISK/out.csv", "--store", "ROOM/store"}, "DISK/out.csv.run.json", "DISK/out.csv", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel() // the tests mostly wait
			d := &diskRun{args: tt.args, room: t.TempDir(), input: filepath.Join(t.TempDir(), "in.txt")}
			writeTitles(t, d.input, 800)
			want := d.undisturbed(t, tt.output)
			size := int64(tt.disk) << 10
			if size == 0 {
				size = pages(int64(len(want["out.csv"]))) + 3*pages(1) // and its lock, journal and status
			}
			d.disk = smallDisk(t, size)
			service := clienttest.New(clienttest.Options{Latency: time.Millisecond})
			url, stop := service.Listen()
			defer stop()

			status, stderr, late := d.run(t, url, service)
			checkDiskFull(t, status, stderr, d.place(tt.names))
			most := diskWorkers + tt.requests
			if late > most {
				t.Errorf("%d requests came after the disk was full, want %d at most", late, most)
			}
			checkWhole(t, readOutput(t, d.place(tt.output)), want)

			enlarge(t, d.disk)
			if status, stderr, _ := d.run(t, url, service); status != exitComplete {
				t.Fatalf("with room again: exit status %d\n%s", status, stderr)
			}
			got := readOutput(t, d.place(tt.output))
			checkWhole(t, got, want)
			if len(got) != len(want) {
				t.Errorf("there are %d files, want %d", len(got), len(want))
			}
			checkAskedOnce(t, service, tt.requests) // answers to requests in flight are stored, if possible
		})
	}
}

// TestFullDiskOfCommands has commands write a new file on a full disk: the error names the file, of which nothing is left.
func TestFullDiskOfCommands(t *testing.T) {
	room := t.TempDir()
	writeTitles(t, filepath.Join(room, "in.txt"), 800) // also a taxonomy
	service := clienttest.New(clienttest.Options{})
	url, stop := service.Listen()
	defer stop()
	p := start(t, bulkcatCommand(t, room, url, "product", "in.txt", "--quiet", "-o", "out.csv", "--store", "answers.db"))
	wantStatus(t, p, exitComplete)
	for name, args := range map[string][]string{
		"copy":    {"store", "copy", "--store", "answers.db"},
		"recover": {"store", "recover", "--store", "answers.db"},
		"link":    {"taxonomy", "link", "in.txt", "-o"},
	} {
		t.Run(name, func(t *testing.T) {
			disk := smallDisk(t, 48<<10)
			file := filepath.Join(disk, "new.csv")
			p := start(t, bulkcatCommand(t, room, url, append(args, file)...))
			<-p.Ended()
			checkDiskFull(t, p.Status(), p.Log(), file)
			if left, err := os.ReadDir(disk); len(left) > 0 || err != nil {
				t.Errorf("left is %v, %v", left, err)
			}
		})
	}
}

// TestFullStandardOutput has commands print to a full disk.
func TestFullStandardOutput(t *testing.T) {
	full, err := os.OpenFile("/dev/full", os.O_WRONLY, 0)
	if err != nil {
		t.Skip(err)
	}
	defer full.Close()
	room := t.TempDir()
	t.Chdir(room)
	writeTitles(t, "in.txt", 3)
	if err := os.WriteFile("jobs.toml", []byte("[[job]]\nkind = 'product'\ninput = 'in.txt'\noutput = 'out.csv'\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"product in.txt -o out.csv --dry-run", "product in.txt -o out.csv --dry-run --log-format json", "run jobs.toml --dry-run",
		"probe --dry-run --base-url http://127.0.0.1:9", "taxonomy list", "taxonomy show naics", "version",
	} {
		var stderr strings.Builder
		if status := run(strings.Fields(args), strings.NewReader(""), full, &stderr); status != exitFailed || !strings.Contains(stderr.String(), "no space left on device") {
			t.Errorf("%s: exit status %d\n%s", args, status, stderr.String())
		}
	}
}

// TestVanishedFolder removes the output's folder while the service keeps the run waiting.
func TestVanishedFolder(t *testing.T) {
	for _, output := range []string{"gone/out.csv", "gone/"} {
		t.Run(output, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			gone := filepath.Join(dir, "gone")
			if err := os.Mkdir(gone, 0o777); err != nil {
				t.Fatal(err)
			}
			writeTitles(t, filepath.Join(dir, "in.txt"), 20)
			service := holdAll(t)
			p := start(t, bulkcatCommand(t, dir, service.URL, "product", "in.txt", "--quiet", "-o", output, "--store", "store"))
			<-service.holding
			for os.RemoveAll(gone) != nil { // the run has just written its status into the folder
			}
			close(service.release)
			wantStatus(t, p, exitFailed)
			checkTold(t, p.Log(), filepath.Clean(output), "no such file or directory")
		})
	}
}

// TestReadOnlyDisk wants a run without a writable disk to ask nothing.
func TestReadOnlyDisk(t *testing.T) {
	for name, args := range map[string][]string{
		"store":  {"-o", "ROOM/out.csv", "--store", "DISK/store"},
		"output": {"-o", "DISK/out.csv", "--store", "ROOM/store"},
		"folder": {"-o", "DISK/out/", "--store", "ROOM/store"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := &diskRun{args: args, room: t.TempDir(), input: filepath.Join(t.TempDir(), "in.txt"), disk: smallDisk(t, 1<<20)}
			writeTitles(t, d.input, 20)
			if err := syscall.Mount("tmpfs", d.disk, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
				t.Fatal(err)
			}
			service := clienttest.New(clienttest.Options{})
			url, stop := service.Listen()
			defer stop()
			status, stderr, _ := d.run(t, url, service)
			if status != exitFailed {
				t.Errorf("exit status %d, want %d", status, exitFailed)
			}
			checkTold(t, stderr, d.disk, "read-only file system")
			if asked := len(service.Audit().Arrivals); asked > 0 {
				t.Errorf("%d requests were made whose answers could not be kept", asked)
			}
		})
	}
}

// diskRun is a run of bulkcat that can be started again.
type diskRun struct {
	input      string
	args       []string
	disk, room string
}

func (d *diskRun) place(path string) string {
	return strings.NewReplacer("DISK", d.disk, "ROOM", d.room).Replace(path)
}

// run runs bulkcat and counts the requests that came after the disk was full.
func (d *diskRun) run(t *testing.T, url string, service *clienttest.Server) (status int, stderr string, late int) {
	t.Helper()
	args := []string{"product", d.input, "--rate", "0", "--workers", fmt.Sprint(diskWorkers), "--quiet"}
	for _, arg := range d.args {
		args = append(args, d.place(arg))
	}
	p := start(t, bulkcatCommand(t, "", url, args...))
	tick, limit := time.NewTicker(time.Millisecond), time.After(30*time.Second)
	defer tick.Stop()
	full := -1 // requests when the disk was seen full
	for {
		select {
		case <-p.Ended():
			asked := len(service.Audit().Arrivals)
			if full < 0 {
				full = asked
			}
			return p.Status(), p.Log(), asked - full
		case <-tick.C:
			if full < 0 && isFull(d.disk) {
				full = len(service.Audit().Arrivals)
			}
		case <-limit:
			t.Fatalf("still running after 30 s\n%s", p.Log())
		}
	}
}

// undisturbed gives the output of the same run on a disk with enough room.
func (d *diskRun) undisturbed(t *testing.T, output string) map[string]string {
	t.Helper()
	service := clienttest.New(clienttest.Options{})
	url, stop := service.Listen()
	defer stop()
	calm := *d
	calm.disk, calm.room = t.TempDir(), t.TempDir()
	if status, stderr, _ := calm.run(t, url, service); status != exitComplete {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	return readOutput(t, calm.place(output))
}

func checkDiskFull(t *testing.T, status int, stderr, path string) {
	t.Helper()
	if status != exitFailed {
		t.Errorf("exit status %d, want %d", status, exitFailed)
	}
	checkTold(t, stderr, path, "no space left on device")
}

// checkWhole wants each existing file to be equal to the file of the undisturbed output.
func checkWhole(t *testing.T, got, want map[string]string) {
	t.Helper()
	for name, content := range got {
		if content != want[name] {
			t.Errorf("%s has %d bytes, different from the %d of an undisturbed run", name, len(content), len(want[name]))
		}
	}
}

func checkAskedOnce(t *testing.T, service *clienttest.Server, most int) {
	t.Helper()
	if twice := service.Audit().Twice(); twice > most {
		t.Errorf("%d answers went to inputs answered before, want %d at most", twice, most)
	}
}

// readOutput reads a file, or the parts of a folder and _SUCCESS, by name.
func readOutput(t *testing.T, path string) map[string]string {
	t.Helper()
	files := make(map[string]string)
	paths := []string{path}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		paths, _ = filepath.Glob(filepath.Join(path, "[p_][aS]*"))
	}
	for _, path := range paths {
		content, err := os.ReadFile(path)
		if err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err == nil {
			files[filepath.Base(path)] = string(content)
		}
	}
	return files
}

// pages rounds up to the bytes that a file takes on a tmpfs.
func pages(bytes int64) int64 {
	page := int64(os.Getpagesize())
	return (bytes + page - 1) / page * page
}

// smallDisk mounts a file system of a few bytes.
func smallDisk(t *testing.T, bytes int64) string {
	t.Helper()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", bytes)); err != nil {
		t.Skipf("a small disk cannot be mounted here, which needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

func enlarge(t *testing.T, dir string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT, "size=64m"); err != nil {
		t.Fatal(err)
	}
}

// isFull reports whether a small disk has no page left.
func isFull(dir string) bool {
	var stat syscall.Statfs_t
	return syscall.Statfs(dir, &stat) == nil && stat.Bfree == 0
}
