package storage_test

import (
	"crypto/md5"
	"encoding/hex"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest/s3faults"
)

// server is a small S3 server with one bucket, whose responses a test can disturb.
type server struct {
	mu      sync.Mutex
	objects map[string]object
	uploads map[string]*upload
	log     []string // method and query of each request

	fault s3faults.Fault
}

type object struct {
	data, etag, token string
}

type upload struct {
	key, token string
	parts      map[int]string
}

// newServer starts a server, and opens its bucket under a name of its own.
func newServer(t *testing.T) (s *server, bucket string) {
	t.Helper()
	s = &server{objects: map[string]object{}, uploads: map[string]*upload{}}
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	t.Setenv("AWS_ACCESS_KEY_ID", "key")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "secret-in-the-environment")
	t.Setenv("AWS_EC2_METADATA_DISABLED", "true")
	t.Setenv("AWS_CA_BUNDLE", "")
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	bucket = "s3://" + strings.ToLower(strings.Map(func(r rune) rune {
		if r == '_' || r == '/' || r == '#' {
			return '-'
		}
		return r
	}, t.Name()))
	if _, err := storage.From(t.Context()).TakeParameters(bucket + "/x?region=us-east-1&endpoint=" + h.URL); err != nil {
		t.Fatal(err)
	}
	return s, bucket
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.log = append(s.log, r.Method+" "+r.URL.RawQuery)
	fault := s.fault
	s.mu.Unlock()
	fault.Before(http.HandlerFunc(s.serve)).ServeHTTP(w, r)
}

func refuse(w http.ResponseWriter, status int, code string) {
	w.WriteHeader(status)
	fmt.Fprintf(w, "<Error><Code>%s</Code><Message>as the test wants</Message></Error>", code)
}

func etagOf(data string) string {
	sum := md5.Sum([]byte(data))
	return `"` + hex.EncodeToString(sum[:]) + `"`
}

func (s *server) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	defer s.mu.Unlock()
	_, key, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	query, id := r.URL.Query(), r.URL.Query().Get("uploadId")
	old, exists := s.objects[key]
	switch {
	case r.Method == http.MethodGet && key == "":
		s.list(w, query.Get("prefix"))
	case r.Method == http.MethodPost && query.Has("uploads"):
		id := strconv.Itoa(len(s.uploads) + 1)
		s.uploads[id] = &upload{key, r.Header.Get("X-Amz-Meta-" + storage.TokenKey), map[int]string{}}
		fmt.Fprintf(w, "<InitiateMultipartUploadResult><UploadId>%s</UploadId></InitiateMultipartUploadResult>", id)
	case id != "" && s.uploads[id] == nil:
		refuse(w, http.StatusNotFound, "NoSuchUpload")
	case r.Method == http.MethodPut && id != "":
		number, _ := strconv.Atoi(query.Get("partNumber"))
		s.uploads[id].parts[number] = string(body)
		w.Header().Set("ETag", etagOf(string(body)))
	case r.Method == http.MethodDelete && id != "":
		delete(s.uploads, id)
		w.WriteHeader(http.StatusNoContent)
	case r.Method == http.MethodPut || r.Method == http.MethodPost:
		if r.Header.Get("If-None-Match") == "*" && exists || r.Header.Get("If-Match") != "" && r.Header.Get("If-Match") != old.etag {
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		data, token := string(body), r.Header.Get("X-Amz-Meta-"+storage.TokenKey)
		if r.Method == http.MethodPost {
			data, token = s.joined(body, s.uploads[id]), s.uploads[id].token
			delete(s.uploads, id)
			fmt.Fprint(w, "<CompleteMultipartUploadResult></CompleteMultipartUploadResult>")
		}
		s.objects[key] = object{data, etagOf(data), token}
	case !exists && r.Method != http.MethodDelete:
		refuse(w, http.StatusNotFound, "NoSuchKey")
	case r.Method == http.MethodDelete:
		delete(s.objects, key)
		w.WriteHeader(http.StatusNoContent)
	default:
		if match := r.Header.Get("If-Match"); match != "" && match != old.etag {
			refuse(w, http.StatusPreconditionFailed, "PreconditionFailed")
			return
		}
		w.Header().Set("ETag", old.etag)
		w.Header().Set("X-Amz-Meta-"+storage.TokenKey, old.token)
		var first, last int
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n == 2 {
			last = min(last, len(old.data)-1)
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", first, last, len(old.data)))
			w.Header().Set("Content-Length", strconv.Itoa(last+1-first))
			w.WriteHeader(http.StatusPartialContent)
			fmt.Fprint(w, old.data[first:last+1])
			return
		}
		w.Header().Set("Content-Length", strconv.Itoa(len(old.data)))
		if r.Method == http.MethodGet {
			fmt.Fprint(w, old.data)
		}
	}
}

// joined returns the parts that a request to complete an upload names.
func (s *server) joined(request []byte, u *upload) string {
	var wanted struct {
		Part []struct{ PartNumber int }
	}
	_ = xml.Unmarshal(request, &wanted)
	var data strings.Builder
	for _, p := range wanted.Part {
		data.WriteString(u.parts[p.PartNumber])
	}
	return data.String()
}

func (s *server) list(w http.ResponseWriter, prefix string) {
	var keys []string
	for key := range s.objects {
		if strings.HasPrefix(key, prefix) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	fmt.Fprint(w, "<ListBucketResult><IsTruncated>false</IsTruncated>")
	for _, key := range keys {
		fmt.Fprintf(w, "<Contents><Key>%s</Key></Contents>", key)
	}
	fmt.Fprint(w, "</ListBucketResult>")
}

func (s *server) put(key, data string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[key] = object{data: data, etag: etagOf(data)}
}

// state returns the objects by key, and the number of uploads.
func (s *server) state() (objects map[string]string, uploads int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	objects = map[string]string{}
	for key, o := range s.objects {
		objects[key] = o.data
	}
	return objects, len(s.uploads)
}

// disturb sets the fault.
func (s *server) disturb(fault s3faults.Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}
