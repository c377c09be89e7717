package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
)

const ledgerPath = "used"

func openLedger(t *testing.T, files vfs.FS) *Ledger {
	t.Helper()
	l, err := OpenLedger(files, ledgerPath)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// metered returns a service with a ledger and one key with a quota of 100.
func metered(l *Ledger) *Service {
	return lent(New(Options{Grants: []Grant{{Key: "secret", Quota: 100}}, Ledger: l, Logger: quiet}))
}

// useUp uses up n answers of the key.
func useUp(t *testing.T, s *Service, n int) {
	t.Helper()
	for range n {
		req := httptest.NewRequest(http.MethodGet, target(ProductPath, "query", "sofa"), nil)
		req.Header.Set("x-api-key", "secret")
		if a := send(t, s, req); a.status != http.StatusOK {
			t.Fatalf("%+v", a)
		}
	}
}

func leftOf(t *testing.T, s *Service) int64 {
	t.Helper()
	a, ok := s.key("secret")
	if !ok {
		t.Fatal("the key is not accepted")
	}
	return a.remaining()
}

func readFile(t *testing.T, files vfs.FS, path string) []byte {
	t.Helper()
	f, err := files.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func writeFile(t *testing.T, files vfs.FS, path string, text []byte) {
	t.Helper()
	f, err := files.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	_, err = f.Write(bytes.Clone(text)) // under -race pebble overwrites the buffer
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
}

// stopped returns a context that is done, with which KeepUsage saves once.
func stopped(t *testing.T) context.Context {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	return ctx
}

func TestUsedQuotaOutlivesTheService(t *testing.T) {
	path := filepath.Join(t.TempDir(), "used")
	for _, want := range []int64{100, 97, 94} {
		l, err := OpenLedger(vfs.Default, path)
		if err != nil {
			t.Fatal(err)
		}
		s := metered(l)
		if got := leftOf(t, s); got != want {
			t.Errorf("%d left, want %d", got, want)
		}
		useUp(t, s, 3)
		if err := errors.Join(s.KeepUsage(stopped(t)), l.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if text := readFile(t, vfs.Default, path); bytes.Contains(text, []byte("secret")) {
		t.Errorf("the ledger has the key: %s", text)
	}
}

func TestUsedQuotaIsSavedEverySecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		files := vfs.NewCrashableMem()
		s := metered(openLedger(t, files))
		ctx, cancel := context.WithCancel(t.Context())
		go s.KeepUsage(ctx)
		for second := range 5 {
			useUp(t, s, 2)
			time.Sleep(saveEvery)
			synctest.Wait()
			lost := files.CrashClone(vfs.CrashCloneCfg{}) // unsynced data is lost
			if got, want := leftOf(t, metered(openLedger(t, lost))), int64(98-2*second); got != want {
				t.Errorf("after %d s and a loss of power %d are left, want %d", second+1, got, want)
			}
		}
		cancel()
		synctest.Wait()
	})
}

func TestPowerLossWhileSaving(t *testing.T) {
	files := vfs.NewCrashableMem()
	l := openLedger(t, files)
	s := metered(l)
	for i := range 20 {
		useUp(t, s, 1)
		if err := s.KeepUsage(stopped(t)); err != nil {
			t.Fatal(err)
		}
		if i%7 == 6 {
			l.size = l.sparse + 1 // the next save replaces the file
		}
		lost := files.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: 50, RNG: rand.New(rand.NewPCG(uint64(i), 1))})
		if got, want := leftOf(t, metered(openLedger(t, lost))), int64(99-i); got != want {
			t.Errorf("%d left, want %d", got, want)
		}
	}
}

// A failure of any disk operation loses no saved usage, and the next save saves everything.
func TestDiskFaults(t *testing.T) {
	const fewest = 10 // operations in opening and saving
	for n := int64(1); ; n++ {
		disk := vfs.NewCrashableMem()
		l := openLedger(t, disk)
		s := metered(l)
		useUp(t, s, 5)
		if err := errors.Join(s.KeepUsage(stopped(t)), l.Close()); err != nil {
			t.Fatal(err)
		}
		files := &faultyDisk{n: n}
		want := useFaultyDisk(t, files.wrap(disk), n)
		if got := leftOf(t, metered(openLedger(t, disk.CrashClone(vfs.CrashCloneCfg{})))); got != want {
			t.Errorf("operation %d: %d left, want %d", n, got, want)
		}
		if done := files.operations.Load(); done < n {
			if done < fewest {
				t.Errorf("only %d operations were tried", done)
			}
			return
		}
	}
}

// useFaultyDisk opens the ledger and uses up two of 95 answers. It returns the number that must
// be left.
func useFaultyDisk(t *testing.T, files vfs.FS, n int64) (want int64) {
	t.Helper()
	l, err := OpenLedger(files, ledgerPath)
	if want = 95; err == nil {
		s := metered(l)
		useUp(t, s, 2)
		if err = s.KeepUsage(stopped(t)); err != nil {
			if again := s.KeepUsage(stopped(t)); again != nil {
				t.Errorf("operation %d: not saved by the second try: %v", n, again)
			}
		}
		want = 93
	}
	var failed *LedgerError
	if err != nil && (!errors.As(err, &failed) || failed.Path != ledgerPath || !errors.Is(err, errDisk)) {
		t.Errorf("operation %d: error %v", n, err)
	}
	return want
}

var errDisk = errors.New("no space left on device")

// faultyDisk fails at its n-th operation.
type faultyDisk struct {
	n          int64
	operations atomic.Int64
}

func (d *faultyDisk) wrap(files vfs.FS) vfs.FS {
	return errorfs.Wrap(files, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if !strings.HasSuffix(op.Path, ".lock") && d.operations.Add(1) == d.n {
			return errDisk
		}
		return nil
	}))
}

func TestFailuresToSaveAreToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var full atomic.Bool
		files := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
			if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
				return errDisk
			}
			return nil
		}))
		s := metered(openLedger(t, files))
		var log bytes.Buffer
		s.opts.Logger = slog.New(slog.NewTextHandler(&log, nil))
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- s.KeepUsage(ctx) }()
		useUp(t, s, 1)
		full.Store(true)
		time.Sleep(10 * saveEvery)
		full.Store(false)
		time.Sleep(2 * saveEvery)
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if text := log.String(); strings.Count(text, "not saved") != 1 || strings.Count(text, "saved again") != 1 {
			t.Errorf("log %s", text)
		}
	})
}

func TestLedgerIsKeptSmall(t *testing.T) {
	files := vfs.NewMem()
	l := openLedger(t, files)
	s := metered(l)
	a, _ := s.key("secret")
	largest := int64(0)
	for range 3 * ledgerSlack / recordSize {
		a.used.answers++
		if err := l.save(s.keys); err != nil {
			t.Fatal(err)
		}
		largest = max(largest, l.size)
	}
	if largest < ledgerSlack || largest > ledgerSlack+ledgerSlack/4 {
		t.Errorf("the ledger grew to %d bytes", largest)
	}
	if got := openLedger(t, cloneLedger(t, files)).used[digestOf("secret")]; got != a.usage() {
		t.Errorf("%v used, want %v", got, a.usage())
	}
}

// cloneLedger copies the ledger to a file system without its lock.
func cloneLedger(t *testing.T, files vfs.FS) vfs.FS {
	to := vfs.NewMem()
	writeFile(t, to, ledgerPath, readFile(t, files, ledgerPath))
	return to
}

func TestKeysThatAreNotAcceptedKeepTheirRecords(t *testing.T) {
	files := vfs.NewMem()
	l := openLedger(t, files)
	s := metered(l)
	useUp(t, s, 4)
	if err := errors.Join(s.KeepUsage(stopped(t)), l.Close()); err != nil {
		t.Fatal(err)
	}
	l = openLedger(t, files)
	other := New(Options{Grants: []Grant{{Key: "other", Quota: 1}}, Ledger: l, Logger: quiet})
	if err := errors.Join(other.KeepUsage(stopped(t)), l.Close()); err != nil {
		t.Fatal(err)
	}
	if got := leftOf(t, metered(openLedger(t, files))); got != 96 {
		t.Errorf("%d left, want 96", got)
	}
}

func TestASmallerQuotaIsUsedUp(t *testing.T) {
	l := openLedger(t, vfs.NewMem())
	l.used[digestOf("secret")] = usage{answers: 150}
	s := metered(l)
	if a, _ := s.key("secret"); a.remaining() != 0 || !a.isUsedUp() || a.take() {
		t.Errorf("%d left of a quota that was lowered below the usage", a.remaining())
	}
}

func TestOneServiceHasALedger(t *testing.T) {
	files := vfs.NewMem()
	first := openLedger(t, files)
	if _, err := OpenLedger(files, ledgerPath); err == nil || !strings.Contains(err.Error(), "another service") {
		t.Errorf("a second service: %v", err)
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	openLedger(t, files)
}

func TestDamagedLedgers(t *testing.T) {
	record := func(key string, used int64) string {
		return string(appendRecords(nil, map[digest]usage{digestOf(key): {answers: used}}))
	}
	five, seven, other := record("secret", 5), record("secret", 7), record("other", 1)
	flipped := strings.Replace(seven, " 0", " 1", 1)
	tests := []struct {
		name, text string
		left       int64
		damaged    int
	}{
		{"whole", ledgerHeader + five + other + seven, 93, 0},
		{"empty", "", 100, 0},
		{"a header that breaks off", ledgerHeader[:5], 100, 1},
		{"without records", ledgerHeader, 100, 0},
		{"a record that breaks off", ledgerHeader + five + seven[:40], 95, 1},
		{"a record without its end", ledgerHeader + five + seven[:recordSize-1], 95, 1},
		{"a number that was changed", ledgerHeader + five + flipped, 95, 1},
		{"zeros at the end", ledgerHeader + seven + strings.Repeat("\x00", 3*recordSize), 93, 3},
		{"of version 1", ledgerHeaderOf1 + version1("secret", 5) + version1("other", 1) + version1("secret", 7), 93, 0},
		{"damage in version 1", ledgerHeaderOf1 + version1("secret", 5) + strings.Replace(version1("secret", 7), " 0", " 1", 1), 95, 1},
		{"damage in the middle", ledgerHeader + five + flipped + seven + other, 93, 1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			files := vfs.NewMem()
			writeFile(t, files, ledgerPath, []byte(tt.text))
			l := openLedger(t, files)
			if got := leftOf(t, metered(l)); got != tt.left || l.Damaged() != tt.damaged {
				t.Errorf("%d left and %d damaged, want %d and %d", got, l.Damaged(), tt.left, tt.damaged)
			}
			if again := openLedger(t, cloneLedger(t, files)); again.Damaged() != 0 {
				t.Errorf("%d are still damaged", again.Damaged())
			}
		})
	}
}

// version1 is a record of the first version of the format.
func version1(key string, used int64) string {
	body := fmt.Sprintf("%s %019d ", digestOf(key), used)
	return fmt.Sprintf("%s%08x\n", body, crc32.Checksum([]byte(body), castagnoli))
}

func TestAnotherFileIsLeftAlone(t *testing.T) {
	files := vfs.NewMem()
	keys := []byte("secret-key-0123456789 100\n")
	writeFile(t, files, ledgerPath, keys)
	_, err := OpenLedger(files, ledgerPath)
	if !errors.Is(err, errNoLedger) || strings.Contains(err.Error(), "secret") {
		t.Errorf("error %v", err)
	}
	if got := readFile(t, files, ledgerPath); !bytes.Equal(got, keys) {
		t.Errorf("the file is now %q", got)
	}
	if names, _ := files.List(""); slices.Contains(names, ledgerPath+".tmp") {
		t.Error("a temporary file is left")
	}
}

func FuzzLedger(f *testing.F) {
	records := string(appendRecords([]byte(ledgerHeader), map[digest]usage{digestOf("a"): {answers: 1}, digestOf("b"): {answers: 1 << 62, last: 1_764_000_000}}))
	for _, text := range []string{"", ledgerHeader, records, records[:100], records + "x", strings.ToUpper(records), "key 100\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		used, damaged, err := readLedger(bytes.NewReader(text))
		if err != nil {
			return
		}
		if whole := len(text) / (recordBodyOf1 + sumSize); len(used)+damaged > whole+1 {
			t.Errorf("%d records and %d damaged ones in %d bytes", len(used), damaged, len(text))
		}
		again, damaged, err := readLedger(bytes.NewReader(appendRecords([]byte(ledgerHeader), used)))
		if err != nil || damaged != 0 || len(again) != len(used) {
			t.Errorf("%d records became %d, %d damaged, %v", len(used), len(again), damaged, err)
		}
		for d, n := range used {
			if again[d] != n || n.answers < 0 || n.last < 0 {
				t.Errorf("%v became %v", n, again[d])
			}
		}
	})
}
