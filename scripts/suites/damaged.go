package main

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"
)

const (
	cuts  = 20
	flips = 50

	longest = 30 * time.Second // for a version of a file
	largest = 400 << 20        // memory of the process that reads the versions of a file, in bytes
)

// version is a damaged version of a file, and what became of reading it.
type version struct {
	Name    string
	Verdict verdict // "" before it is read
	Detail  string
	Peak    int64 // memory of the process so far, in bytes; 0 where the system does not tell
}

// damagedSuite reads damaged versions of each file, those of one file in a process of its own.
func damagedSuite(folder string) ([]result, error) {
	var paths []string
	for _, list := range []func() ([]string, error){
		func() ([]string, error) { return filesIn([]string{".csv"}, folder, "csv-spectrum", "csvs") },
		func() ([]string, error) { return filesIn([]string{".json"}, folder, "json", "test_parsing") },
		func() ([]string, error) { return parquetFiles(folder, "data") },
		func() ([]string, error) { return parquetFiles(folder, "bad_data") },
	} {
		found, err := list()
		if err != nil {
			return nil, err
		}
		paths = append(paths, found...)
	}
	var results []result
	for _, path := range paths {
		found, err := damage(path)
		if err != nil {
			return nil, err
		}
		results = append(results, found...)
	}
	return results, nil
}

// damage has another process read the damaged versions of a file, and returns a result for each.
func damage(path string) ([]result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	var stderr bytes.Buffer
	command := exec.Command(program, "-damaged", path)
	command.Stderr = &stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	suite := "damaged " + strings.TrimPrefix(filepath.Ext(path), ".")
	var results []result
	var last version // begun
	hang := time.AfterFunc(longest, func() { command.Process.Kill() })
	for scanner := bufio.NewScanner(output); scanner.Scan(); hang.Reset(longest) {
		var v version
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			return nil, err
		}
		if last = v; v.Verdict != "" {
			results = append(results, result{suite, filepath.Base(path) + " " + v.Name, v.Verdict, v.Detail})
		}
	}
	ended := command.Wait()
	stopped := !hang.Stop()
	failed := result{suite, filepath.Base(path) + " " + last.Name, fails, ""}
	switch {
	case stopped:
		failed.detail = fmt.Sprintf("takes over %s", longest)
	case ended != nil:
		failed.detail = fmt.Sprintf("%v: %.300s", ended, stderr.String())
	case stderr.Len() > 0:
		failed.detail = "prints to standard error: " + stderr.String()
	case last.Peak > largest:
		failed.detail = fmt.Sprintf("takes %d MiB", last.Peak>>20)
	default:
		return results, nil
	}
	return append(results, failed), nil
}

// readDamaged reads the damaged versions of a file and writes a line of JSON before and after each.
func readDamaged(out io.Writer, path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	whole, wholeErr := list(path)
	folder, err := os.MkdirTemp("", "suites")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	file := filepath.Join(folder, filepath.Base(path))
	lines := json.NewEncoder(out)
	for v, damaged := range versions(text) {
		if err := lines.Encode(v); err != nil {
			return err
		}
		if err := os.WriteFile(file, damaged, 0o666); err != nil {
			return err
		}
		l, err := list(file)
		v.Verdict, v.Peak = agrees, peakMemory()
		if err == nil && l.invalid == 0 {
			if err := judge(damaged, l, whole, wholeErr, filepath.Ext(path)); err != nil {
				v.Verdict, v.Detail = fails, err.Error()
			}
		}
		if err := lines.Encode(v); err != nil {
			return err
		}
	}
	return nil
}

// peakMemory returns the most memory in bytes that this process has had (proc_pid_status(5)); 0 on other systems than Linux.
func peakMemory() int64 {
	text, _ := os.ReadFile("/proc/self/status")
	_, text, _ = bytes.Cut(text, []byte("VmHWM:"))
	var kib int64
	fmt.Sscan(string(text), &kib)
	return kib << 10
}

// versions yields the damaged versions of a file, the same for each call.
func versions(text []byte) func(func(version, []byte) bool) {
	return func(yield func(version, []byte) bool) {
		random := rand.New(rand.NewPCG(1, uint64(len(text))))
		for i := range cuts {
			at := len(text) * i / cuts
			if !yield(version{Name: fmt.Sprintf("cut at %d", at)}, text[:at]) {
				return
			}
		}
		for range flips {
			if len(text) == 0 {
				return
			}
			at, bit := random.IntN(len(text)), random.IntN(8)
			damaged := bytes.Clone(text)
			damaged[at] ^= 1 << bit
			if !yield(version{Name: fmt.Sprintf("bit %d of %d flipped", bit, at)}, damaged) {
				return
			}
		}
	}
}

// judge returns an error if the rows of a damaged file, which was read without an error, cannot be those that it holds.
// Damage can make another valid file: of JSON and CSV, the reference is the standard library; a Parquet file, whose
// values may have no checksum, has as many rows as before.
func judge(damaged []byte, l, whole listing, wholeErr error, extension string) error {
	want := len(whole.Rows)
	switch extension {
	case ".json":
		if !utf8.Valid(damaged) || bytes.IndexByte(damaged, 0) >= 0 {
			return nil // the standard library does not read UTF-16, nor refuse other bytes in strings
		}
		values, err := countValues(damaged)
		if err != nil {
			return fmt.Errorf("%d records, but the standard library says: %w", len(l.Rows), err)
		}
		want = values
	case ".csv":
		// As in pandas, a CR ends a row, too.
		r := csv.NewReader(bytes.NewReader(bytes.ReplaceAll(bytes.ReplaceAll(damaged, []byte("\r\n"), []byte("\n")), []byte("\r"), []byte("\n"))))
		r.FieldsPerRecord = -1
		rows, err := r.ReadAll()
		if err != nil {
			return nil // a lenient reader reads more than the standard library
		}
		want = max(len(rows)-1, 0)
	default:
		if wholeErr != nil {
			return nil
		}
	}
	if len(l.Rows) != want {
		return fmt.Errorf("%d rows without an error, want %d", len(l.Rows), want)
	}
	return nil
}
