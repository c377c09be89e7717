package objects

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/bulkcat/bulkcat/reader"
)

// altered is a response of which a server or a proxy changes a header.
type altered struct {
	http.ResponseWriter
	name, value string // "" removes the header
	status      int
	begun       bool
}

func (a *altered) WriteHeader(int) {
	if a.begun {
		return
	}
	a.begun = true
	a.Header().Set(a.name, a.value)
	if a.value == "" {
		a.Header().Del(a.name)
	}
	a.ResponseWriter.WriteHeader(a.status)
}

func (a *altered) Write(p []byte) (int, error) {
	a.WriteHeader(a.status)
	return a.ResponseWriter.Write(p)
}

// ignoreRange answers with the whole object.
func ignoreRange(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
	r.Header.Del("Range")
	return false
}

// rewrite changes the range that is asked for.
func rewrite(asked string) fault {
	return func(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
		if r.Header.Get("Range") != "" {
			r.Header.Set("Range", asked)
		}
		return false
	}
}

// header is the fault that changes a header of the responses to a method.
func header(method, name, value string, status int) fault {
	return func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
		if r.Method != method {
			return false
		}
		a := &altered{ResponseWriter: w, name: name, value: value, status: status}
		serve(a)
		a.WriteHeader(status)
		return true
	}
}

// TestMisbehavingReads reads from servers that send other bytes or sizes than they were asked for: the right bytes, or
// an error.
func TestMisbehavingReads(t *testing.T) {
	const small = "a,b\n1,2\n"
	for _, tt := range []struct {
		name  string
		data  string
		fault fault
		right bool // the bytes, else an error
	}{
		{"no fault", large, nil, true},
		{"no fault, empty", "", nil, true},
		{"ignores Range", large, ignoreRange, false},
		{"ignores Range, of one block", small, ignoreRange, true},
		{"ignores Range, says 206", large, func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
			r.Header.Del("Range")
			return header(http.MethodGet, "X-Cache", "hit", http.StatusPartialContent)(w, r, serve)
		}, false},
		{"another range", small, rewrite("bytes=1-7"), false},
		{"a longer range", large, rewrite("bytes=0-4194303"), false},
		{"a shorter range", small, rewrite("bytes=0-6"), false},
		{"206 without Content-Range", large, header(http.MethodGet, "Content-Range", "", http.StatusPartialContent), false},
		{"another total", small, header(http.MethodGet, "Content-Range", "bytes 0-7/9", http.StatusPartialContent), false},
		{"an unknown total", small, header(http.MethodGet, "Content-Range", "bytes 0-7/*", http.StatusPartialContent), false},
		{"HEAD without a length", small, func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
			w.Header().Set("ETag", etagOf(small))
			_ = http.NewResponseController(w).Flush()
			return r.Method == http.MethodHead
		}, false},
		{"HEAD with the length 0", small, header(http.MethodHead, "Content-Length", "0", http.StatusOK), false},
		{"HEAD with a smaller length", small, header(http.MethodHead, "Content-Length", "4", http.StatusOK), false},
		{"HEAD with a larger length", small, header(http.MethodHead, "Content-Length", "9", http.StatusOK), false},
		{"HEAD without an ETag", small, header(http.MethodHead, "ETag", "", http.StatusOK), false},
		{"GET without an ETag", small, header(http.MethodGet, "ETag", "", http.StatusPartialContent), false},
		{"GET with another ETag", small, header(http.MethodGet, "ETag", `"x"`, http.StatusPartialContent), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, bucket := newServer(t)
			s.put("in.csv", tt.data)
			s.disturb(tt.fault)
			got, err := ReadFile(t.Context(), bucket+"/in.csv")
			if tt.right && (err != nil || string(got) != tt.data) {
				t.Errorf("%d of %d bytes, %v", len(got), len(tt.data), err)
			}
			if !tt.right && err == nil {
				t.Errorf("%d of %d bytes without an error", len(got), len(tt.data))
			}
			_, isRange := errors.AsType[*RangeError](err)
			if err != nil && !isRange && !errors.Is(err, ErrChanged) && !errors.Is(err, errNoVersion) {
				t.Errorf("the error is %v", err)
			}
		})
	}
}

// cut is a bucket whose bodies end at a byte.
type cut struct {
	Bucket
	end int64
}

func (b cut) Read(_ context.Context, _ string, _ Info, offset, _ int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader("abcdefghijkl"[offset:b.end])), nil
}

// TestBodiesEndEarly reads an object whose bodies all end at a byte: the error is neither io.EOF nor an end for any
// reader.
func TestBodiesEndEarly(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for end := range int64(12) {
			s := &source{ctx: t.Context(), bucket: cut{end: end}, key: "in.csv", info: Info{Size: 12, ETag: "1"}, keep: streamBlocks}
			_, err := io.ReadAll(s)
			c, isCut := errors.AsType[*CutError](err)
			if !isCut || c.Offset != end || errors.Is(err, io.EOF) || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d: %v", end, err)
			}
			if n, err := s.ReadAt(make([]byte, 12), 0); n == 12 || !errors.Is(err, io.ErrUnexpectedEOF) {
				t.Errorf("cut at %d: ReadAt returns %d, %v", end, n, err)
			}
		}
	})
}

// page answers a request for a list.
type page struct {
	keys      string // separated by blanks
	truncated string
	token     string
}

func (p page) write(w io.Writer) {
	fmt.Fprint(w, "<ListBucketResult>")
	if p.truncated != "" {
		fmt.Fprintf(w, "<IsTruncated>%s</IsTruncated>", p.truncated)
	}
	for _, key := range strings.Fields(p.keys) {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
	}
	if p.token != "" {
		fmt.Fprintf(w, "<NextContinuationToken>%s</NextContinuationToken>", p.token)
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

// TestMisbehavingLists lists a folder of servers that send foreign keys and pages without an end.
func TestMisbehavingLists(t *testing.T) {
	one := func(keys string) func(int) page { return func(int) page { return page{keys, "false", ""} } }
	for _, tt := range []struct {
		name string
		page func(n int) page
		want string // "" for an error
	}{
		{"one page", one("in/a.csv in/b.csv"), "in/a.csv in/b.csv"},
		{"three pages", func(n int) page {
			return []page{{"in/a.csv", "true", "1"}, {"", "true", "2"}, {"in/b.csv", "false", ""}}[n]
		}, "in/a.csv in/b.csv"},
		{"folders", one("in/ in/a.csv in/sub/"), "in/a.csv"},
		{"the wrong order", one("in/b.csv in/a.csv"), "in/a.csv in/b.csv"},
		{"a key of another folder", one("in/a.csv other/b.csv"), ""},
		{"a shorter key", one("in"), ""},
		{"an empty key", func(int) page { return page{"</Key><Key>", "false", ""} }, ""},
		{"a foreign folder", one("other/ in/a.csv"), ""},
		{"a key twice", one("in/a.csv in/a.csv"), ""},
		{"the same page again", func(n int) page { return page{"in/a.csv", "true", fmt.Sprint(n)} }, ""},
		{"a token that repeats", func(n int) page { return page{fmt.Sprintf("in/%d.csv", n), "true", "1"} }, ""},
		{"two tokens that take turns", func(n int) page { return page{fmt.Sprintf("in/%d.csv", n), "true", fmt.Sprint(n % 2)} }, ""},
		{"empty pages without an end", func(n int) page { return page{"", "true", fmt.Sprint(n)} }, ""},
		{"truncated without a token", func(int) page { return page{"in/a.csv", "true", ""} }, ""},
		{"a token, but not truncated", func(int) page { return page{"in/a.csv", "false", "1"} }, ""},
		{"not said whether truncated", func(int) page { return page{"in/a.csv", "", ""} }, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s, bucket := newServer(t)
			pages := 0
			s.disturb(func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
				if !r.URL.Query().Has("list-type") {
					return false
				}
				tt.page(pages).write(w)
				pages++
				return true
			})
			urls, err := Files{}.List(t.Context(), bucket+"/in/")
			got := strings.ReplaceAll(strings.Join(urls, " "), bucket+"/", "")
			_, isList := errors.AsType[*ListError](err)
			if got != tt.want || isList != (tt.want == "") || (err == nil) == isList {
				t.Errorf("got %q, %v", got, err)
			}
			if pages > 2*emptyPages {
				t.Errorf("%d requests", pages)
			}
			pages = 0
			_, err = ReadDir(t.Context(), bucket+"/in")
			if _, isList := errors.AsType[*ListError](err); isList != (tt.want == "") {
				t.Errorf("ReadDir: %v", err)
			}
			pages = 0
			in, err := reader.Open(reader.Options{Paths: []string{bucket + "/in/"}, Storage: Files{}})
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
	ended, end := context.WithCancel(context.Background())
	t.Cleanup(end)
	ctx, cancel := context.WithCancel(t.Context())
	f, err := OpenFile(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Files{}.Create(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	s.disturb(func(http.ResponseWriter, *http.Request, func(http.ResponseWriter)) bool {
		hang <- struct{}{}
		<-ended.Done()
		return true
	})
	calls := map[string]func() error{
		"Read":       func() error { _, err := io.ReadAll(f); return err },
		"Publish":    func() error { return d.Publish(0) },
		"OpenFile":   func() error { _, err := OpenFile(ctx, url); return err },
		"ReadDir":    func() error { _, err := ReadDir(ctx, bucket+"/in"); return err },
		"IsFolder":   func() error { _, err := IsFolder(ctx, url); return err },
		"Create":     func() error { _, err := Files{}.Create(ctx, url); return err },
		"CreateFile": func() error { _, err := CreateFile(ctx, url, nil); return err },
		"Remove":     func() error { return Remove(ctx, url) },
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
