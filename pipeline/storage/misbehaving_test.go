package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest/s3faults"
	"github.com/bulkcat/bulkcat/reader"
)

const (
	yesterday = "Mon, 02 Mar 2026 10:00:00 GMT"
	today     = "Tue, 03 Mar 2026 10:00:00 GMT"
)

// times are the times of modification in the responses to HEAD and GET of an object without ETags.
func times(head, get string) s3faults.Fault {
	return func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
		time, status := head, http.StatusOK
		if r.Method == http.MethodGet {
			time, status = get, http.StatusPartialContent
		}
		if time != "" {
			w.Header().Set("Last-Modified", time)
		}
		return s3faults.Header(r.Method, "ETag", "", status)(w, r, serve)
	}
}

// TestMisbehavingReads reads from servers that send other bytes or sizes than they were asked for: the right bytes, or
// an error.
func TestMisbehavingReads(t *testing.T) {
	const small = "a,b\n1,2\n"
	for _, tt := range []struct {
		name  string
		data  string
		fault s3faults.Fault
		right bool // the bytes, else an error
	}{
		{"no fault", large, nil, true},
		{"no fault, empty", "", nil, true},
		{"ignores Range", large, s3faults.IgnoreRange, false},
		{"ignores Range, of one block", small, s3faults.IgnoreRange, true},
		{"ignores Range, says 206", large, func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
			r.Header.Del("Range")
			return s3faults.Header(http.MethodGet, "X-Cache", "hit", http.StatusPartialContent)(w, r, serve)
		}, false},
		{"another range", small, s3faults.OtherRange("bytes=1-7"), false},
		{"a longer range", large, s3faults.OtherRange("bytes=0-4194303"), false},
		{"a shorter range", small, s3faults.OtherRange("bytes=0-6"), false},
		{"206 without Content-Range", large, s3faults.Header(http.MethodGet, "Content-Range", "", http.StatusPartialContent), false},
		{"another total", small, s3faults.Header(http.MethodGet, "Content-Range", "bytes 0-7/9", http.StatusPartialContent), false},
		{"an unknown total", small, s3faults.Header(http.MethodGet, "Content-Range", "bytes 0-7/*", http.StatusPartialContent), false},
		{"HEAD without a length", small, s3faults.Header(http.MethodHead, "Content-Length", "", http.StatusOK), false},
		{"HEAD with the length 0", small, s3faults.Header(http.MethodHead, "Content-Length", "0", http.StatusOK), false},
		{"HEAD with a smaller length", small, s3faults.Header(http.MethodHead, "Content-Length", "4", http.StatusOK), false},
		{"HEAD with a larger length", small, s3faults.Header(http.MethodHead, "Content-Length", "9", http.StatusOK), false},
		{"HEAD without an ETag", small, s3faults.Header(http.MethodHead, "ETag", "", http.StatusOK), false},
		{"no ETags, but times", small, times(yesterday, yesterday), true},
		{"no ETags, and another time of GET", small, times(yesterday, today), false},
		{"no ETags, and no time of GET", small, times(yesterday, ""), false},
		{"GET without an ETag", small, s3faults.Header(http.MethodGet, "ETag", "", http.StatusPartialContent), false},
		{"GET with another ETag", small, s3faults.Header(http.MethodGet, "ETag", `"x"`, http.StatusPartialContent), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, bucket := newServer(t)
			s.put("in.csv", tt.data)
			s.disturb(tt.fault)
			got, err := storage.ReadFile(t.Context(), bucket+"/in.csv")
			if tt.right && (err != nil || string(got) != tt.data) {
				t.Errorf("%d of %d bytes, %v", len(got), len(tt.data), err)
			}
			if !tt.right && err == nil {
				t.Errorf("%d of %d bytes without an error", len(got), len(tt.data))
			}
			if err != nil && !errors.Is(err, storage.ErrWrong) && !errors.Is(err, storage.ErrChanged) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// cut is a bucket whose bodies end at a byte.
type cut struct {
	storage.Bucket
	end int64
}

func (b cut) Read(_ context.Context, _ string, _ storage.Info, offset, _ int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("abcdefghijkl"[offset:b.end])), nil
}

// TestBodiesEndEarly reads an object whose bodies all end at a byte: the error is neither io.EOF nor an end for any
// reader.
func TestBodiesEndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for end := range int64(12) {
			s := storage.Source(t.Context(), cut{end: end}, storage.Info{Size: 12, ETag: "1"})
			_, err := io.ReadAll(s)
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("cut at byte %d in each", end)) || errors.Is(err, io.EOF) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d: %v", end, err)
			}
			if n, err := s.ReadAt(make([]byte, 12), 0); n == 12 || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d: ReadAt returns %d, %v", end, n, err)
			}
		}
	})
}

// TestMisbehavingLists lists a folder of servers that send foreign keys and pages without an end.
func TestMisbehavingLists(t *testing.T) {
	one := func(keys string) func(int) string {
		return func(int) string { return s3faults.Page(keys, "false", "") }
	}
	for _, tt := range []struct {
		name string
		page func(n int) string
		want string // "" for an error
	}{
		{"one page", one("in/a.csv in/b.csv"), "in/a.csv in/b.csv"},
		{"three pages", func(n int) string {
			return []string{s3faults.Page("in/a.csv", "true", "1"), s3faults.Page("", "true", "2"), s3faults.Page("in/b.csv", "false", "")}[n]
		}, "in/a.csv in/b.csv"},
		{"folders", one("in/ in/a.csv in/sub/"), "in/a.csv"},
		{"the wrong order", one("in/b.csv in/a.csv"), "in/a.csv in/b.csv"},
		{"a key of another folder", one("in/a.csv other/b.csv"), ""},
		{"a shorter key", one("in"), ""},
		{"an empty key", func(int) string { return s3faults.Page("</Key><Key>", "false", "") }, ""},
		{"a foreign folder", one("other/ in/a.csv"), ""},
		{"a key twice", one("in/a.csv in/a.csv"), ""},
		{"the same page again", func(n int) string { return s3faults.Page("in/a.csv", "true", fmt.Sprint(n)) }, ""},
		{"a token that repeats", func(n int) string { return s3faults.Page(fmt.Sprintf("in/%d.csv", n), "true", "1") }, ""},
		{"two pages that take turns", func(n int) string { return s3faults.Page(fmt.Sprintf("in/%d.csv", n%2), "true", fmt.Sprint(n%2)) }, ""},
		{"empty pages without an end", func(n int) string { return s3faults.Page("", "true", fmt.Sprint(n)) }, ""},
		{"truncated without a token", func(int) string { return s3faults.Page("in/a.csv", "true", "") }, ""},
		{"a token, but not truncated", func(int) string { return s3faults.Page("in/a.csv", "false", "1") }, ""},
		{"not said whether truncated", func(int) string { return s3faults.Page("in/a.csv", "", "") }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, bucket := newServer(t)
			pages := 0
			s.disturb(s3faults.List(func(int) string { pages++; return tt.page(pages - 1) }))
			urls, err := storage.From(t.Context()).List(t.Context(), bucket+"/in/")
			got := strings.ReplaceAll(strings.Join(urls, " "), bucket+"/", "")
			isList := errors.Is(err, storage.ErrWrong)
			if got != tt.want || isList != (tt.want == "") || (err == nil) == isList {
				t.Errorf("got %q, %v", got, err)
			}
			if pages > 2*storage.EmptyPages {
				t.Errorf("%d requests", pages)
			}
			pages = 0
			_, err = storage.ReadDir(t.Context(), bucket+"/in")
			if isList := errors.Is(err, storage.ErrWrong); isList != (tt.want == "") {
				t.Errorf("ReadDir: %v", err)
			}
			pages = 0
			in, err := reader.Open(t.Context(), reader.Options{Paths: []string{bucket + "/in/"}, Storage: storage.From(t.Context())})
			if err == nil {
				in.Close()
				t.Error("the folder is an input") // no object can be opened
			}
		})
	}
}

// TestHangingServer ends a context while a server does not answer: every call returns at once.
func TestHangingServer(t *testing.T) {
	s, bucket := newServer(t)
	s.put("in.csv", large)
	url, hang := bucket+"/in.csv", make(chan struct{}, 10)
	ctx, cancel := context.WithCancel(t.Context())
	f, err := storage.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	d, err := storage.From(t.Context()).Create(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	s.disturb(s3faults.Hang(func() { hang <- struct{}{} }))
	calls := map[string]func() error{
		"Read":       func() error { _, err := io.ReadAll(f); return err },
		"Publish":    func() error { return d.Publish(0) },
		"OpenFile":   func() error { _, err := storage.Open(ctx, url); return err },
		"ReadDir":    func() error { _, err := storage.ReadDir(ctx, bucket+"/in"); return err },
		"IsFolder":   func() error { _, err := storage.IsFolder(ctx, url); return err },
		"Create":     func() error { _, err := storage.From(t.Context()).Create(ctx, url); return err },
		"CreateFile": func() error { _, err := storage.CreateFile(ctx, url, nil); return err },
		"Remove":     func() error { return storage.Remove(ctx, url) },
	}
	errs := make(chan string, len(calls))
	for name, call := range calls {
		go func() {
			err := call()
			if name == "Read" && !errors.Is(err, reader.ErrInterrupted) || !errors.Is(err, context.Canceled) {
				errs <- fmt.Sprintf("%s returns %v", name, err)
				return
			}
			errs <- ""
		}()
	}
	for range calls {
		<-hang
	}
	cancel()
	for range calls {
		if text := <-errs; text != "" {
			t.Error(text)
		}
	}
}
