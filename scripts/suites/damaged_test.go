package suites

import (
	"bufio"
	"bytes"
	"context"
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

	"github.com/bulkcat/bulkcat/scripts/process"
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
}

// damagedSuite reads damaged versions of each file, those of one file in a process of its own.
func damagedSuite(ctx context.Context, folder string) ([]result, error) {
	paths, err := files(folder, append([]string{csvFiles, jsonFiles}, parquetFiles...)...)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "suites")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	var results []result
	for i, path := range paths {
		found, err := damage(ctx, path, filepath.Join(dir, fmt.Sprint(i)))
		if err != nil {
			return nil, err
		}
		results = append(results, found...)
	}
	return results, nil
}

// damage has another process read the damaged versions of a file, and returns a result for each. log is the path of what the
// process prints to standard error.
func damage(ctx context.Context, path, log string) ([]result, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.Command(program, "-damaged", path)
	output, stdout, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer output.Close()
	command.Stdout = stdout
	p, err := process.Start(ctx, command, log)
	stdout.Close() // the process has its own
	if err != nil {
		return nil, err
	}
	suite := "damaged " + strings.TrimPrefix(filepath.Ext(path), ".")
	var results []result
	var last version // begun
	hang := time.AfterFunc(longest, p.Kill)
	for scanner := bufio.NewScanner(output); scanner.Scan(); hang.Reset(longest) {
		var v version
		if err := json.Unmarshal(scanner.Bytes(), &v); err != nil {
			return nil, err
		}
		if last = v; v.Verdict != "" {
			results = append(results, result{suite, filepath.Base(path) + " " + v.Name, v.Verdict, v.Detail})
		}
	}
	ended := p.Complete()
	_, peak := p.Used()
	failed := result{suite: suite, name: filepath.Base(path) + " " + last.Name}
	switch {
	case !hang.Stop():
		return append(results, failed.judged(fails, fmt.Errorf("takes over %s", longest))), nil
	case ended != nil:
		return append(results, failed.judged(fails, fmt.Errorf("%.300s", ended))), nil
	case p.Log() != "":
		return append(results, failed.judged(fails, fmt.Errorf("prints to standard error: %s", p.Log()))), nil
	case peak > largest:
		return append(results, failed.judged(fails, fmt.Errorf("takes %d MiB", peak>>20))), nil
	}
	return results, nil
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
		v.Verdict = agrees
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
