package disk

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// An output has one writer at a time. The error names the writer's process.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	first, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	_, err = TryLock(path + "/") // as a folder is named
	busy, ok := errors.AsType[*BusyError](err)
	if !ok || busy.PID != os.Getpid() || !strings.Contains(err.Error(), path) {
		t.Errorf("the second got %v", err)
	}
	first.Release()
	if _, err := os.Stat(RunFolder(path)); !os.IsNotExist(err) {
		t.Errorf("the folder stays: %v", err)
	}
	second, err := TryLock(path)
	if err != nil {
		t.Fatal(err)
	}
	second.Release()
}

// The lock file of a killed process does not lock, even if a live process has its number. The claim stays.
func TestLockOfTheDead(t *testing.T) {
	for text, want := range map[string]string{
		fmt.Sprintf("%d run-1\n", os.Getppid()): "run-1",
		fmt.Sprintf("%d run-1\n", os.Getpid()):  "run-1",
		"123\n":                                 "",
		"":                                      "",
		"\x00\x00\x00":                          "",
	} {
		path := filepath.Join(t.TempDir(), "out.csv")
		name := filepath.Join(RunFolder(path), "lock")
		if err := os.Mkdir(RunFolder(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		l, err := TryLock(path)
		if err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		if got := l.Claimed(); got != want {
			t.Errorf("%q: claimed by %q, want %q", text, got, want)
		}
		l.Release() // keeps the claim of the other run
		if l, err = TryLock(path); err != nil {
			t.Fatal(err)
		}
		if got := l.Claimed(); got != want {
			t.Errorf("%q: then claimed by %q, want %q", text, got, want)
		}
		if err := l.Claim("run-2"); err != nil {
			t.Fatal(err)
		}
		if pid, claim := readLock(l.file); pid != os.Getpid() || claim != "run-2" {
			t.Errorf("%q: the file has %d and %q", text, pid, claim)
		}
		l.DropClaim()
		l.Release()
		if _, err := os.Stat(filepath.Dir(name)); !os.IsNotExist(err) {
			t.Errorf("%q: the folder stays: %v", text, err)
		}
	}
}

// A killed process without a wait by its parent holds no lock.
func TestUnreapedProcess(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.csv")
	if os.Getenv("LOCK_AND_WAIT") != "" {
		l, err := TryLock(os.Getenv("LOCK_AND_WAIT"))
		if err != nil {
			t.Fatal(err)
		}
		fmt.Println("locked")
		time.Sleep(time.Hour)
		runtime.KeepAlive(l) // a collected Lock would close its file, which ends the lock
	}
	holder := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestUnreapedProcess$")
	holder.Env = append(os.Environ(), "LOCK_AND_WAIT="+path)
	out, err := holder.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := holder.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fscanln(out, new(string)); err != nil {
		t.Fatal(err)
	}
	_, err = TryLock(path)
	if busy, ok := errors.AsType[*BusyError](err); !ok || busy.PID != holder.Process.Pid {
		t.Errorf("while it lives: %v", err)
	}
	if err := holder.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	l, err := waitLock(path) // returns when the process is killed, before its parent waits for it
	if err != nil {
		t.Fatal(err)
	}
	l.Release()
	_ = holder.Wait() // an error: the process was killed
}

// waitLock locks when the present owner releases the lock, or dies.
func waitLock(path string) (*Lock, error) {
	for {
		l, err := TryLock(path)
		if _, busy := errors.AsType[*BusyError](err); !busy {
			return l, err
		}
		time.Sleep(time.Millisecond)
	}
}

// Many owners lock one after another, although each removes the file that the others wait for.
func TestManyOwners(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store")
	var owners sync.WaitGroup
	inside := make(chan struct{}, 1)
	for range 8 {
		owners.Go(func() {
			for range 50 {
				l, err := waitLock(path)
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case inside <- struct{}{}:
				default:
					t.Error("two have the lock")
				}
				<-inside
				l.Release()
			}
		})
	}
	owners.Wait()
}
