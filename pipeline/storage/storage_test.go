package storage_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest/s3faults"
)

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
				if err := d.Publish(int64(len(data))); (err == nil) != (forget == nil) || err != nil && err != storage.ErrNotStored {
					t.Errorf("got %v", err)
				}
				if err := d.Discard(); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// A connection that is cut continues at its offset.
func TestCutReads(t *testing.T) {
	s, bucket := newServer(t)
	s.put("in.csv", large)
	var asked []string
	s.disturb(func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
		var first, last int
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n != 2 || first%storage.BlockSize != 0 {
			return false
		}
		asked = append(asked, r.Header.Get("Range"))
		return s3faults.CutEach(100)(w, r, serve)
	})
	got, err := storage.ReadFile(t.Context(), bucket+"/in.csv")
	if err != nil || string(got) != large {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if want := len(large)/storage.BlockSize + 1; len(asked) != want {
		t.Errorf("%d requests for the beginning of a block, want %d: none is asked for twice", len(asked), want)
	}
}

// A request is repeated if its error passes, and no other. No error has the secret of the requests.
func TestRepetitions(t *testing.T) {
	for _, c := range []struct {
		name     string
		failures int // of the first requests
		status   int
		code     string
		want     string // of the error; "" for none
		requests int
	}{
		{"none", 0, 0, "", "", 1},
		{"all but the last", storage.Attempts - 1, http.StatusServiceUnavailable, "SlowDown", "", storage.Attempts},
		{"too many", storage.Attempts, http.StatusServiceUnavailable, "SlowDown", "SlowDown (503)", storage.Attempts},
		{"an error that stays", 1, http.StatusForbidden, "AccessDenied", "access is denied", 1},
		{"a wrong request", 1, http.StatusBadRequest, "InvalidRequest", "InvalidRequest (400)", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, bucket := newServer(t)
			s.put("in/a.csv", "a")
			requests := 0
			s.disturb(func(w http.ResponseWriter, _ *http.Request, _ func(http.ResponseWriter)) bool {
				if requests++; requests > c.failures {
					return false
				}
				refuse(w, c.status, c.code)
				return true
			})
			_, err := storage.ReadDir(t.Context(), bucket+"/in")
			if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) || requests != c.requests {
				t.Errorf("got %v after %d requests, want %q after %d", err, requests, c.want, c.requests)
			}
			if err != nil && strings.Contains(err.Error(), "secret-in-the-environment") {
				t.Errorf("the error has the secret: %v", err)
			}
		})
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
		if created, err := storage.CreateFile(t.Context(), bucket+"/new.json", fmt.Appendf(nil, "%v", want)); created != want || err != nil {
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
	if created, err := storage.CreateFile(t.Context(), bucket+"/other.json", nil); created || !errors.Is(err, fs.ErrPermission) {
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
		"Exists":     func() error { _, err := storage.Exists(t.Context(), url); return err },
		"folder":     func() error { _, err := storage.Exists(t.Context(), url+"/"); return err },
		"ReadFile":   func() error { _, err := storage.ReadFile(t.Context(), url); return err },
		"ReadDir":    func() error { _, err := storage.ReadDir(t.Context(), url); return err },
		"Remove":     func() error { return storage.Remove(t.Context(), url) },
		"Create":     func() error { _, err := storage.From(t.Context()).Create(t.Context(), url); return err },
		"CreateFile": func() error { _, err := storage.CreateFile(t.Context(), url, nil); return err },
	} {
		if err := call(); !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), " "+url) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Only a list tells a missing bucket from a missing object, and not everybody may list.
func TestPrepare(t *testing.T) {
	s, bucket := newServer(t)
	for _, tt := range []struct {
		status     int
		code, want string
	}{
		{http.StatusOK, "", ""},
		{http.StatusNotFound, "NoSuchBucket", "the bucket does not exist"},
		{http.StatusForbidden, "AccessDenied", ""},
	} {
		s.disturb(func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
			isList := tt.code != "" && r.URL.Query().Has("list-type")
			if isList {
				refuse(w, tt.status, tt.code)
			}
			return isList
		})
		err := storage.From(t.Context()).Prepare(t.Context(), bucket+"/out.csv", false)
		if (err != nil) != (tt.want != "") || err != nil && !strings.HasSuffix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %q", tt.code, err, tt.want)
		}
	}
}

func TestTryLock(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	for _, path := range []string{"s3://bucket/out.csv", filepath.Join(t.TempDir(), "out.csv")} {
		lock, err := storage.TryLock(path)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := storage.TryLock(path); err == nil || !strings.Contains(err.Error(), " is writing "+path+": ") {
			t.Errorf("got %v", err)
		}
		lock.Release()
	}
}

func TestSettle(t *testing.T) {
	for _, path := range []string{"a/b.csv", "-", "/tmp/x?region=1", "s3://bucket/part-?.csv", "s3://bucket/a?b/[c]"} {
		if got, err := storage.From(t.Context()).TakeParameters(path); got != path || err != nil {
			t.Errorf("%s became %s, %v", path, got, err)
		}
	}
	if got, err := storage.From(t.Context()).TakeParameters("s3://settled/part-?.csv?region=eu-west-1&profile=p"); got != "s3://settled/part-?.csv" || err != nil {
		t.Errorf("got %s, %v", got, err)
	}
	for path, want := range map[string]string{
		"s3://bucket/key?secret_key=hidden":      `unknown parameter "secret_key"`,
		"s3://id:hidden@bucket/key":              "must not have credentials",
		"s3://bucket":                            "is a whole bucket: add the name of a file in it, as in s3://bucket/lists/today.csv",
		"s3:///key":                              "names no bucket",
		"gs://bucket/key":                        "only programs that are built with -tags clouds",
		"file:///data/list.csv":                  "name a local file by its path alone",
		"S3://bucket/key":                        "s3:// in small letters",
		"s3a://bucket/key":                       "write s3://",
		"https://example.com":                    "download a list first",
		"https://example.com/l.csv?X-Sig=hidden": "https://example.com/l.csv: nothing is read from the web",
		"ftp://bucket/key":                       "unknown storage ftp (known:",
		"s3://settled/other.csv?region=us-west":  "other parameters",
	} {
		_, err := storage.From(t.Context()).TakeParameters(path)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hidden") {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
}

// Two endpoints have a bucket of the same name. Each Objects uses the endpoint of its own parameters.
func TestOneNameAtTwoEndpoints(t *testing.T) {
	newServer(t) // for its environment
	contexts := map[string]context.Context{}
	for _, place := range []string{"here", "there"} {
		s := &server{objects: map[string]object{"in.csv": {place, etagOf(place), ""}}}
		h := httptest.NewServer(s)
		t.Cleanup(h.Close)
		objects := new(storage.Objects)
		if got, err := objects.TakeParameters("s3://shared-name/in.csv?region=us-east-1&endpoint=" + h.URL); got != "s3://shared-name/in.csv" || err != nil {
			t.Fatalf("got %s, %v", got, err)
		}
		if _, err := objects.TakeParameters("s3://shared-name/other.csv?endpoint=http://127.0.0.1:1"); err == nil || !strings.Contains(err.Error(), "other parameters") {
			t.Errorf("a second endpoint: %v", err)
		}
		contexts[place] = storage.With(t.Context(), objects)
	}
	for place, ctx := range contexts {
		if err := storage.Publish(ctx, "s3://shared-name/out.csv", []byte("of "+place)); err != nil {
			t.Fatal(err)
		}
	}
	for place, ctx := range contexts {
		for name, want := range map[string]string{"in.csv": place, "out.csv": "of " + place} {
			if text, err := storage.ReadFile(ctx, "s3://shared-name/"+name); string(text) != want || err != nil {
				t.Errorf("%s: %s has %q, %v", place, name, text, err)
			}
		}
	}
}

func TestLocal(t *testing.T) {
	t.Setenv("XDG_STATE_HOME", "state") // as for the user's store, a relative folder would be another one in each current folder
	if got := storage.Local("s3://bucket/a.csv"); !filepath.IsAbs(got) {
		t.Errorf("got %s", got)
	}
	t.Setenv("XDG_STATE_HOME", "/state")
	for path, want := range map[string]string{
		"a//b.csv":               "a/b.csv",
		"s3://bucket/dir/a.csv":  "/state/bulkcat/s3/bucket/dir/a.csv",
		"s3://bucket/dir/":       "/state/bulkcat/s3/bucket/dir",
		"s3://bucket/../../a:b ": "/state/bulkcat/s3/bucket/%25../%25../a:b%20",
	} {
		if got := filepath.ToSlash(storage.Local(path)); got != want && got != strings.ReplaceAll(want, ":", "%3A") {
			t.Errorf("%s: got %s, want %s", path, got, want)
		}
	}
}

// A bucket that takes its time to be opened, or that cannot be opened, keeps no other bucket waiting. A check of a path
// changes nothing.
func TestOpeningOneBucketHoldsUpNoOther(t *testing.T) {
	entered, opens, refused := make(chan struct{}), make(chan struct{}), 0
	storage.Register("slowly", func(ctx context.Context, name string, parameters url.Values) (storage.Bucket, error) {
		if name == "slow" {
			close(entered)
			<-opens
		} else {
			refused++
		}
		return nil, fmt.Errorf("%s is closed, region %q", name, parameters.Get("region"))
	})
	if base, err := new(storage.Objects).TakeParameters("slowly://fast/x?region=nowhere"); base != "slowly://fast/x" || err != nil {
		t.Errorf("got %q, %v", base, err)
	}
	first := make(chan error)
	go func() {
		_, err := storage.Exists(t.Context(), "slowly://slow/x")
		first <- err
	}()
	<-entered
	for range 2 {
		if _, err := storage.Exists(t.Context(), "slowly://fast/x"); err == nil || !strings.Contains(err.Error(), `fast is closed, region ""`) {
			t.Errorf("the other bucket: %v", err)
		}
	}
	if refused != 2 {
		t.Errorf("a bucket that could not be opened was opened %d times, want 2", refused)
	}
	close(opens)
	if err := <-first; err == nil || !strings.Contains(err.Error(), "slow is closed") {
		t.Errorf("the slow bucket: %v", err)
	}
}
