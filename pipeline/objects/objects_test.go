package objects

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/objects/objectstest/s3faults"
	"github.com/bulkcat/bulkcat/writer"
)

// large has more than two parts of an upload, and more than two blocks.
var large = strings.Repeat("0123456789abcdef", partSize/4)[:2*partSize+777]

func write(t *testing.T, d writer.Draft, data string) {
	t.Helper()
	for len(data) > 0 {
		n := min(len(data), 1<<20)
		if _, err := d.Write([]byte(data[:n])); err != nil {
			t.Fatal(err)
		}
		data = data[n:]
	}
}

func create(t *testing.T, url string) writer.Draft {
	t.Helper()
	d, err := Files{}.Create(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestPublish(t *testing.T) {
	for _, data := range []string{"", "small", large[:partSize], large} {
		t.Run(fmt.Sprint(len(data)), func(t *testing.T) {
			s, bucket := newServer(t)
			for range 2 { // the second replaces the first
				d := create(t, bucket+"/out.csv")
				write(t, d, data)
				if err := d.Publish(int64(len(data))); err != nil {
					t.Fatal(err)
				}
			}
			objects, uploads := s.state()
			if objects["out.csv"] != data || len(objects) != 1 || uploads != 0 {
				t.Errorf("%d objects of %d bytes, %d uploads", len(objects), len(objects["out.csv"]), uploads)
			}
			if left := leftDrafts(); len(left) != 0 {
				t.Errorf("the notes %v stay", left)
			}
		})
	}
}

// A draft that ends without Publish shows nothing, and leaves no upload.
func TestDiscard(t *testing.T) {
	s, bucket := newServer(t)
	d := create(t, bucket+"/out.csv")
	write(t, d, large)
	if _, uploads := s.state(); uploads != 1 {
		t.Fatalf("%d uploads before the end", uploads)
	}
	if err := d.Discard(); err != nil {
		t.Fatal(err)
	}
	if objects, uploads := s.state(); len(objects)+uploads+len(leftDrafts()) != 0 {
		t.Errorf("%d objects, %d uploads and the notes %v stay", len(objects), uploads, leftDrafts())
	}
}

// A draft that lost bytes is not published.
func TestShortDraft(t *testing.T) {
	s, bucket := newServer(t)
	for _, data := range []string{"small", large} {
		d := create(t, bucket+"/out.csv")
		write(t, d, data)
		if err := d.Publish(int64(len(data)) + 1); err == nil {
			t.Error("no error")
		}
		if err := d.Discard(); err != nil {
			t.Error(err)
		}
	}
	if objects, uploads := s.state(); len(objects)+uploads != 0 {
		t.Errorf("%d objects, %d uploads", len(objects), uploads)
	}
}

// A killed process leaves its upload, which the next start for the same output removes, and no other.
func TestLeftDrafts(t *testing.T) {
	s, bucket := newServer(t)
	for _, name := range []string{"out.csv", "other.csv"} {
		write(t, create(t, bucket+"/dir/"+name), large)
	}
	Files{}.RemoveDrafts(t.Context(), bucket+"/dir", func(name string) bool { return name == "out.csv" })
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.uploads) != 1 || s.uploads["2"] == nil || s.uploads["2"].key != "dir/other.csv" {
		t.Errorf("the uploads are %v", s.uploads)
	}
	if left := leftDrafts(); len(left) != 1 || left[0].URL != bucket+"/dir/other.csv" {
		t.Errorf("the notes are %v", left)
	}
}

// Of two writers the second to publish fails, whether an object was there or not.
func TestTwoWriters(t *testing.T) {
	for _, before := range []string{"", "old"} {
		for _, data := range []string{"new", large} {
			t.Run(fmt.Sprintf("%s/%d", before, len(data)), func(t *testing.T) {
				s, bucket := newServer(t)
				if before != "" {
					s.put("out.csv", before)
				}
				first, second := create(t, bucket+"/out.csv"), create(t, bucket+"/out.csv")
				write(t, first, "first")
				write(t, second, data)
				if err := first.Publish(5); err != nil {
					t.Fatal(err)
				}
				if err := second.Publish(int64(len(data))); !errors.Is(err, ErrChanged) {
					t.Errorf("the second writer got %v", err)
				}
				if err := second.Discard(); err != nil {
					t.Error(err)
				}
				if objects, uploads := s.state(); objects["out.csv"] != "first" || uploads != 0 {
					t.Errorf("the object is %q, with %d uploads", objects["out.csv"], uploads)
				}
			})
		}
	}
}

// The response to a publication is lost: the draft recognizes its object.
func TestLostResponse(t *testing.T) {
	for _, data := range []string{"small", large} {
		t.Run(fmt.Sprint(len(data)), func(t *testing.T) {
			s, bucket := newServer(t)
			publications := 0
			s.disturb(s3faults.LoseOnce().For(func(r *http.Request) bool {
				if s3faults.Publishes(r) {
					publications++
				}
				return s3faults.Publishes(r)
			}))
			d := create(t, bucket+"/out.csv")
			write(t, d, data)
			if err := d.Publish(int64(len(data))); err != nil || publications < 2 {
				t.Errorf("%v, after %d requests to publish", err, publications)
			}
		})
	}
}

// A server acknowledges a publication and keeps nothing, or another object: the draft is not published.
func TestForgetfulServer(t *testing.T) {
	for _, data := range []string{"", "small", large} {
		for name, forget := range map[string]func(s *server){
			"nothing":   func(s *server) { delete(s.objects, "out.csv") },
			"the old":   func(s *server) { s.objects["out.csv"] = object{data: data, etag: etagOf("old")} },
			"a part":    func(s *server) { o := s.objects["out.csv"]; o.data += "x"; s.objects["out.csv"] = o },
			"all of it": nil,
		} {
			t.Run(fmt.Sprint(name, len(data)), func(t *testing.T) {
				s, bucket := newServer(t)
				s.disturb(func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
					if !s3faults.Publishes(r) {
						return false
					}
					serve(w)
					if forget != nil {
						s.mu.Lock()
						defer s.mu.Unlock()
						forget(s)
					}
					return true
				})
				d := create(t, bucket+"/out.csv")
				write(t, d, data)
				if err := d.Publish(int64(len(data))); (err == nil) != (forget == nil) || err != nil && err != errNotStored {
					t.Errorf("got %v", err)
				}
				if err := d.Discard(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

func TestSlowDownIsRetried(t *testing.T) {
	s, bucket := newServer(t)
	refused := map[string]bool{}
	s.disturb(func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
		id := r.Method + r.URL.RawQuery + r.Header.Get("Range")
		if refused[id] {
			return false
		}
		refused[id] = true
		refuse(w, http.StatusServiceUnavailable, "SlowDown")
		return true
	})
	d := create(t, bucket+"/out.csv")
	write(t, d, large[:partSize+1])
	if err := d.Publish(partSize + 1); err != nil {
		t.Fatal(err)
	}
	got, err := ReadFile(t.Context(), bucket+"/out.csv")
	if err != nil || string(got) != large[:partSize+1] {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}

// A connection that is cut continues at its offset.
func TestCutReads(t *testing.T) {
	s, bucket := newServer(t)
	s.put("in.csv", large)
	var asked []string
	s.disturb(func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
		var first, last int
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n != 2 || first%blockSize != 0 {
			return false
		}
		asked = append(asked, r.Header.Get("Range"))
		return s3faults.CutEach(100)(w, r, serve)
	})
	got, err := ReadFile(t.Context(), bucket+"/in.csv")
	if err != nil || string(got) != large {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if want := len(large)/blockSize + 1; len(asked) != want {
		t.Errorf("%d requests for the beginning of a block, want %d: none is asked for twice", len(asked), want)
	}
}

func TestChangedWhileRead(t *testing.T) {
	s, bucket := newServer(t)
	s.put("in.csv", large)
	f, err := OpenFile(t.Context(), bucket+"/in.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := io.ReadFull(f, make([]byte, 100)); err != nil {
		t.Fatal(err)
	}
	s.put("in.csv", large+"more")
	if _, err := io.ReadAll(f); !errors.Is(err, ErrChanged) {
		t.Errorf("reading on returns %v", err)
	}
}

func TestReadAt(t *testing.T) {
	s, bucket := newServer(t)
	s.put("in.bin", large)
	f, err := OpenFile(t.Context(), bucket+"/in.bin")
	if err != nil {
		t.Fatal(err)
	}
	for _, offset := range []int{0, blockSize - 3, 5*blockSize + 1, 7, len(large) - 10} {
		p := make([]byte, 10)
		if n, err := f.ReadAt(p, int64(offset)); n != 10 || err != nil || string(p) != large[offset:offset+10] {
			t.Errorf("at %d: %d bytes, %v", offset, n, err)
		}
	}
	if n, err := f.ReadAt(make([]byte, 10), int64(len(large))-4); n != 4 || err != io.EOF {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}
}

// TestReadAtInGoroutines reads more blocks than a source keeps, as the columns of a Parquet file are read.
func TestReadAtInGoroutines(t *testing.T) {
	s, bucket := newServer(t)
	s.put("in.bin", large)
	f, err := OpenFile(t.Context(), bucket+"/in.bin")
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

func TestMissing(t *testing.T) {
	_, bucket := newServer(t)
	if _, err := OpenFile(t.Context(), bucket+"/none.csv"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("OpenFile: %v", err)
	}
	if found, err := Exists(t.Context(), bucket+"/none.csv"); found || err != nil {
		t.Errorf("Exists: %v, %v", found, err)
	}
	if err := (Files{}).Remove(t.Context(), bucket+"/none.csv"); err != nil {
		t.Errorf("Remove: %v", err)
	}
}

// Of several programs that create an object, one does, and knows this even if the response is lost.
func TestCreateFile(t *testing.T) {
	s, bucket := newServer(t)
	puts := 0
	s.disturb(s3faults.LoseOnce().For(func(r *http.Request) bool {
		if r.Method == http.MethodPut {
			puts++
		}
		return r.Method == http.MethodPut
	}))
	for _, want := range []bool{true, false} {
		if created, err := CreateFile(t.Context(), bucket+"/new.json", fmt.Appendf(nil, "%v", want)); created != want || err != nil {
			t.Errorf("created is %v, want %v; %v", created, want, err)
		}
	}
	if objects, _ := s.state(); objects["new.json"] != "true" || puts < 3 {
		t.Errorf("the object is %q", objects["new.json"])
	}
	s.disturb(func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) bool {
		refuse(w, http.StatusForbidden, "AccessDenied")
		return true
	})
	if created, err := CreateFile(t.Context(), bucket+"/other.json", nil); created || !errors.Is(err, fs.ErrPermission) {
		t.Errorf("without access: %v, %v", created, err)
	}
}

// An error names the object, as an error of package os names the file.
func TestErrorsNameTheObject(t *testing.T) {
	s, bucket := newServer(t)
	s.disturb(func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) bool {
		refuse(w, http.StatusForbidden, "AccessDenied")
		return true
	})
	url := bucket + "/dir/x.json"
	for name, call := range map[string]func() error{
		"Exists":     func() error { _, err := Exists(t.Context(), url); return err },
		"folder":     func() error { _, err := Exists(t.Context(), url+"/"); return err },
		"ReadFile":   func() error { _, err := ReadFile(t.Context(), url); return err },
		"ReadDir":    func() error { _, err := ReadDir(t.Context(), url); return err },
		"Remove":     func() error { return Remove(t.Context(), url) },
		"Create":     func() error { _, err := Files{}.Create(t.Context(), url); return err },
		"CreateFile": func() error { _, err := CreateFile(t.Context(), url, nil); return err },
	} {
		if err := call(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), " "+url) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Paths and URLs name the same files and folders.
func TestFolders(t *testing.T) {
	_, bucket := newServer(t)
	for _, root := range []string{t.TempDir(), bucket} {
		folder := writer.Join(root, "out")
		if found, err := Exists(t.Context(), folder+"/"); found || err != nil {
			t.Errorf("%s: exists before it is made: %v", folder, err)
		}
		for range 2 {
			for _, path := range []string{folder, writer.Join(folder, "a")} {
				if err := MakeFolder(path); err != nil {
					t.Fatal(err)
				}
			}
		}
		if info, err := os.Stat(Local(writer.Join(folder, "a"))); err != nil || !info.IsDir() {
			t.Errorf("%s: the folder of the machine: %v", folder, err)
		}
		for _, name := range []string{"a/b.csv", "a.csv", "a/c.csv", "_SUCCESS"} {
			if err := Publish(t.Context(), writer.Join(folder, name), []byte(name)); err != nil {
				t.Fatal(err)
			}
		}
		if names, err := ReadDir(t.Context(), folder); err != nil || fmt.Sprint(names) != "[_SUCCESS a a.csv]" {
			t.Errorf("%s has %v, %v", folder, names, err)
		}
		for range 2 {
			if err := Remove(t.Context(), writer.Join(folder, "a.csv")); err != nil {
				t.Errorf("Remove: %v", err)
			}
		}
		if names, err := ReadDir(t.Context(), folder); err != nil || fmt.Sprint(names) != "[_SUCCESS a]" {
			t.Errorf("%s has %v, %v", folder, names, err)
		}
	}
}

func TestSettle(t *testing.T) {
	for _, path := range []string{"a/b.csv", "-", "/tmp/x?region=1", "s3://bucket/part-?.csv", "s3://bucket/a?b/[c]"} {
		if got, err := Settle(path); got != path || err != nil {
			t.Errorf("%s became %s, %v", path, got, err)
		}
	}
	if got, err := Settle("s3://settled/part-?.csv?region=eu-west-1&profile=p"); got != "s3://settled/part-?.csv" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	for path, want := range map[string]string{
		"s3://bucket/key?secret_key=hidden":     `unknown parameter "secret_key"`,
		"s3://id:hidden@bucket/key":             "must not have credentials",
		"s3://bucket":                           "is a bucket",
		"s3:///key":                             "names no bucket",
		"gs://bucket/key":                       "unknown storage gs",
		"ftp://bucket/key":                      "unknown storage ftp (known:",
		"s3://settled/other.csv?region=us-west": "other parameters",
	} {
		_, err := Settle(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

func TestLocal(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "/state")
	for path, want := range map[string]string{
		"a//b.csv":               "a/b.csv",
		"s3://bucket/dir/a.csv":  "/state/bulkcat/s3/bucket/dir/a.csv",
		"s3://bucket/dir/":       "/state/bulkcat/s3/bucket/dir",
		"s3://bucket/../../a:b ": "/state/bulkcat/s3/bucket/%25../%25../a:b%20",
	} {
		if got := filepath.ToSlash(Local(path)); got != want && got != strings.ReplaceAll(want, ":", "%3A") {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}
