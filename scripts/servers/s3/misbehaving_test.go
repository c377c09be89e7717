package s3

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest/s3faults"
)

var full = flag.Bool("full", false, "run the tests: make test-s3")

// behind is the same bucket behind a proxy with a fault, for one test.
func (w *world) behind(t *testing.T, fault s3faults.Fault) *world {
	b := &world{t: t, bucket: w.bucket, input: w.input, want: w.want, network: w.network, fault: fault}
	b.proxy()
	return b
}

// asked reports whether the method, the path and the query of a request have a text.
func asked(text string) func(*http.Request) bool {
	return func(r *http.Request) bool {
		return strings.Contains(r.Method+" "+r.URL.Path+"?"+r.URL.RawQuery, text)
	}
}

// check fails the test if a file does not have the text want; an empty text stands for no file.
func check(t *testing.T, path string, want []byte) {
	t.Helper()
	got, err := os.ReadFile(path)
	if (err == nil) != (want != nil) || err != nil && !errors.Is(err, fs.ErrNotExist) || !bytes.Equal(got, want) {
		t.Errorf("%s has %d bytes, want %d; %v", path, len(got), len(want), err)
	}
}

// always is a list whose pages are all the same.
func always(page string) s3faults.Fault { return s3faults.List(func(int) string { return page }) }

// An input behind a server that misbehaves: the right rows, or exit status 1, a message and no output.
func TestMisbehavingInput(t *testing.T) {
	t.Parallel()
	w := start(t)
	size := fmt.Sprint(len(read(t, w.input)))
	for _, c := range []struct {
		name, input string
		fault       s3faults.Fault
		text        string // of the error; "" for the right rows
	}{
		{"no fault", "in.csv", nil, ""},
		{"each body is cut", "in.csv", s3faults.CutEach(100_000), ""},
		{"all bodies are cut at a byte", "in.csv", s3faults.CutAt(3_000_000), "cut at byte 3000000 in each of 10 attempts"},
		{"ignores Range", "in.csv", s3faults.IgnoreRange, "ignores the header Range"},
		{"another range", "in.csv", s3faults.OtherRange("bytes=100-2097251"), "asked for bytes 0-2097151/" + size},
		{"HEAD without a length", "in.csv", s3faults.Header(http.MethodHead, "Content-Length", "", http.StatusOK), "names no size"},
		{"HEAD with the length 0", "in.csv", s3faults.Header(http.MethodHead, "Content-Length", "0", http.StatusOK), "names wrong sizes"},
		{"HEAD with a smaller length", "in.csv", s3faults.Header(http.MethodHead, "Content-Length", "2000000", http.StatusOK), "names wrong sizes"},
		{"HEAD with a larger length", "in.csv", s3faults.Header(http.MethodHead, "Content-Length", "9000000", http.StatusOK), "names wrong sizes"},
		{"another version", "in.csv", s3faults.Header(http.MethodGet, "ETag", `"x"`, http.StatusPartialContent), "the object has changed meanwhile"},
		{"a foreign key", "list/", always(s3faults.Page("list/in.csv other/in.csv", "false", "")), `the key "other/in.csv", which does not begin with "list/"`},
		{"a key twice", "list/", always(s3faults.Page("list/in.csv list/in.csv", "false", "")), `the key "list/in.csv" twice`},
		{"a token that repeats", "list/", s3faults.List(func(n int) string { return s3faults.Page(fmt.Sprintf("list/%d.csv", n), "true", "1") }), "pages without an end"},
		{"empty pages without an end", "list/", s3faults.List(func(n int) string { return s3faults.Page("", "true", fmt.Sprint(n)) }), "pages without an end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b, output := w.behind(t, c.fault), filepath.Join(t.TempDir(), "out.csv")
			cmd := b.run(t.TempDir(), "product", "s3://bucket/"+c.input, "-o", output, "--carry", "all")
			if c.text == "" {
				b.must(cmd)
				check(t, output, w.want)
				return
			}
			b.fails(cmd, 1, c.text)
			check(t, output, nil)
		})
	}
}

// An output behind a server that acknowledges what it does not store, or whose acknowledgement is lost.
func TestMisbehavingOutput(t *testing.T) {
	t.Parallel()
	w := start(t)
	small := filepath.Join(t.TempDir(), "small.csv")
	w.must(w.run(t.TempDir(), "product", w.input, "-o", small, "--carry", "all", "--limit", "10"))
	want := map[string][]byte{"an upload": w.want, "one request": read(t, small)}
	for _, c := range []struct {
		name  string
		fault s3faults.Fault
		text  string // of the error; "" for an output
	}{
		{"no fault", nil, ""},
		{"forgets", s3faults.Forget, "has acknowledged the object, but does not have it as it was sent"},
		{"loses an acknowledgement", s3faults.LoseOnce().For(s3faults.Publishes), ""},
	} {
		for size, more := range map[string][]string{"an upload": nil, "one request": {"--limit", "10"}} {
			t.Run(c.name+"/"+size, func(t *testing.T) {
				t.Parallel()
				b, state, key := w.behind(t, c.fault), t.TempDir(), strings.ReplaceAll(t.Name(), " ", "-")+"/out.csv"
				args := append([]string{"product", w.input, "-o", "s3://bucket/" + key, "--carry", "all"}, more...)
				if c.text != "" {
					b.fails(b.run(state, args...), 1, c.text)
					check(t, filepath.Join(w.bucket, key), nil)
					b = w.behind(t, nil)
				}
				b.must(b.run(state, args...))
				check(t, filepath.Join(w.bucket, key), want[size])
			})
		}
	}
	t.Cleanup(func() {
		if n := w.uploads(); n > 0 {
			t.Errorf("%d uploads are left", n)
		}
	})
}

// A server that hangs does not hold a run that gets SIGTERM, whatever the run was waiting for.
func TestHanging(t *testing.T) {
	t.Parallel()
	w := start(t)
	const (
		grace = 2 * time.Second
		// most is the grace period, five seconds for what is left of the output, five for the abort of its upload, and
		// some for a busy machine.
		most   = grace + 13*time.Second
		gaveUp = "stopped early: interrupted: the storage did not answer within 7s of the interruption"
	)
	for _, c := range []struct {
		name, request string // that hangs
		args          []string
		text          string // of the run
	}{
		{"opening the input", "HEAD /bucket/in.csv", []string{"s3://bucket/in.csv", "-o", "OUT"}, "received terminated"},
		{"reading the input", "GET /bucket/in.csv", []string{"s3://bucket/in.csv", "-o", "OUT"}, "received terminated"},
		{"listing the input", "list-type=2", []string{"s3://bucket/list/", "-o", "OUT"}, "received terminated"},
		{"creating the output", "HEAD /bucket/OUT", []string{"INPUT", "-o", "s3://bucket/OUT"}, "received terminated"},
		{"beginning the upload", "uploads=", []string{"INPUT", "-o", "s3://bucket/OUT"}, gaveUp},
		{"a part of the upload", "partNumber=1", []string{"INPUT", "-o", "s3://bucket/OUT"}, gaveUp},
		{"completing the upload", "POST /bucket/OUT?uploadId", []string{"INPUT", "-o", "s3://bucket/OUT"}, gaveUp},
		{"a small output", "PUT /bucket/OUT?", []string{"INPUT", "-o", "s3://bucket/OUT", "--limit", "10"}, gaveUp},
		{"a part of a folder", "PUT /bucket/FOLDER/part-00002.csv?", []string{"INPUT", "-o", "s3://bucket/FOLDER/", "--output-format", "csv", "--part-rows", "1000"}, gaveUp},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir, name := t.TempDir(), strings.ReplaceAll(c.name, " ", "-")
			places := strings.NewReplacer("INPUT", w.input, "OUT", name+".csv", "FOLDER", name, "STORE", filepath.Join(dir, "store"))
			hangs := make(chan struct{}, 1000)
			b := w.behind(t, s3faults.Hang(func() { hangs <- struct{}{} }).For(asked(places.Replace(c.request))))
			args := []string{"product", "--carry", "all", "--grace", grace.String()}
			for _, arg := range c.args {
				args = append(args, places.Replace(arg))
			}
			cmd := b.run(t.TempDir(), args...)
			cmd.Dir = dir
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			select {
			case <-hangs:
			case <-time.After(time.Minute):
				t.Error("no request hangs")
			}
			signaled := time.Now()
			_ = cmd.Process.Signal(syscall.SIGTERM)
			giveUp := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
			_ = cmd.Wait()
			giveUp.Stop()
			taken, text := time.Since(signaled).Round(time.Millisecond), fmt.Sprint(cmd.Stderr)
			t.Logf("%v after %v", cmd.ProcessState, taken)
			if taken > most || cmd.ProcessState.ExitCode() != 143 || !strings.Contains(text, c.text) {
				t.Errorf("the run ended after %v with %v, want status 143 within %v and %q\n%s", taken, cmd.ProcessState, most, c.text, text)
			}
			if stopped := strings.Contains(text, "Stopped (interrupted), resumable"); stopped != strings.Contains(text, "  resume ") {
				t.Errorf("no resume line:\n%s", text)
			}
			for _, output := range []string{filepath.Join(dir, name+".csv"), filepath.Join(w.bucket, name+".csv"), filepath.Join(w.bucket, name, "_SUCCESS")} {
				check(t, output, nil)
			}
		})
	}
}
