// Package s3faults has the faults of servers with the interface of S3, and of proxies before them, for tests with a server in
// memory and with real servers. It does not belong to storagetest, because the tests with real servers are another module and
// import nothing of the program.
package s3faults

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
)

// Fault answers a request in place of a server, or leaves the request to the server. It reports whether it has answered. serve
// makes the server answer the request, which the Fault may have changed.
type Fault func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool

// Before puts a Fault before a server. A nil Fault does nothing.
func (f Fault) Before(server http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		serve := func(w http.ResponseWriter) { server.ServeHTTP(w, r) }
		if f == nil || !f(w, r, serve) {
			serve(w)
		}
	})
}

// For limits a Fault to some requests.
func (f Fault) For(which func(*http.Request) bool) Fault {
	return func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
		return which(r) && f(w, r, serve)
	}
}

// Publishes reports whether a request makes an object visible.
func Publishes(r *http.Request) bool {
	return r.Method == http.MethodPut && !r.URL.Query().Has("partNumber") || r.Method == http.MethodPost && r.URL.Query().Has("uploadId")
}

// IgnoreRange answers with the whole object.
func IgnoreRange(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
	r.Header.Del("Range")
	return false
}

// OtherRange replaces the range of a request by asked.
func OtherRange(asked string) Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
		if r.Header.Get("Range") != "" {
			r.Header.Set("Range", asked)
		}
		return false
	}
}

// Header sets the status and a header of the responses to a method. An empty value removes the header.
func Header(method, name, value string, status int) Fault {
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

// altered is a response with another header and another status.
type altered struct {
	http.ResponseWriter
	name, value string
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

// CutEach cuts each body after n bytes.
func CutEach(n int64) Fault { return cut(func(int64) int64 { return n }) }

// CutAt cuts all bodies at a byte of the object.
func CutAt(end int64) Fault { return cut(func(first int64) int64 { return max(0, end-first) }) }

// cut cuts the bodies of ranges that are longer than length.
func cut(length func(first int64) int64) Fault {
	return func(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter)) bool {
		var first, last int64
		if n, _ := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &first, &last); n == 2 && length(first) <= last-first {
			serve(&short{w, length(first)})
			return true
		}
		return false
	}
}

// short is a response whose connection ends after some bytes of the body.
type short struct {
	http.ResponseWriter
	left int64
}

func (s *short) Write(p []byte) (int, error) {
	if int64(len(p)) <= s.left {
		s.left -= int64(len(p))
		return s.ResponseWriter.Write(p)
	}
	_, _ = s.ResponseWriter.Write(p[:s.left])
	_ = http.NewResponseController(s.ResponseWriter).Flush()
	panic(http.ErrAbortHandler)
}

// Page returns a page of a list. Blanks separate the keys. If truncated or token is empty, the page lacks the element.
func Page(keys, truncated, token string) string {
	var b strings.Builder
	b.WriteString("<ListBucketResult>")
	if truncated != "" {
		fmt.Fprintf(&b, "<IsTruncated>%s</IsTruncated>", truncated)
	}
	for _, key := range strings.Fields(keys) {
		fmt.Fprintf(&b, "<Contents><Key>%s</Key></Contents>", key)
	}
	if token != "" {
		fmt.Fprintf(&b, "<NextContinuationToken>%s</NextContinuationToken>", token)
	}
	return b.String() + "</ListBucketResult>"
}

// List answers the requests for a list. n is the number of earlier requests.
func List(page func(n int) string) Fault {
	var requests atomic.Int64
	return func(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
		if !r.URL.Query().Has("list-type") {
			return false
		}
		fmt.Fprint(w, page(int(requests.Add(1))-1))
		return true
	}
}

// Forget acknowledges objects, but does not store them.
func Forget(w http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
	if !Publishes(r) {
		return false
	}
	_, _ = io.Copy(io.Discard, r.Body)
	w.Header().Set("ETag", `"forgotten"`)
	if r.Method == http.MethodPost {
		fmt.Fprint(w, `<CompleteMultipartUploadResult><ETag>"forgotten"</ETag></CompleteMultipartUploadResult>`)
	}
	return true
}

// LoseOnce serves the first request, but cuts the connection before the response.
func LoseOnce() Fault {
	var lost atomic.Bool
	return func(_ http.ResponseWriter, _ *http.Request, serve func(http.ResponseWriter)) bool {
		if lost.Swap(true) {
			return false
		}
		serve(discarding{http.Header{}})
		panic(http.ErrAbortHandler)
	}
}

// discarding discards a response.
type discarding struct{ header http.Header }

func (d discarding) Header() http.Header         { return d.header }
func (d discarding) Write(p []byte) (int, error) { return len(p), nil }
func (d discarding) WriteHeader(int)             {}

// Hang reports each request, and does not answer.
func Hang(report func()) Fault {
	return func(_ http.ResponseWriter, r *http.Request, _ func(http.ResponseWriter)) bool {
		_, _ = io.Copy(io.Discard, r.Body) // net/http notices only after the body that a client gives up
		report()
		<-r.Context().Done()
		panic(http.ErrAbortHandler)
	}
}
