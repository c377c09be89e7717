package embedded

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// misfits are requests that no sound client sends. The %d is another number each
// time.
var misfits = map[string]string{
	"not HTTP":                    "\x16\x03\x01%d\x00\xff\r\n\r\n",
	"nothing but line ends":       "\r\n\r\n\r\n%d\r\n\r\n",
	"no version":                  "GET /api/usage?%d\r\n\r\n",
	"another version":             "GET /api/usage?%d HTTP/7.5\r\nHost: x\r\n\r\n",
	"no host":                     "GET /api/usage?%d HTTP/1.1\r\n\r\n",
	"two hosts":                   "GET /api/usage?%d HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
	"a method of its own":         "B%dRP /api/usage HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\n\r\n",
	"a method of signs":           "{%d} /api/usage HTTP/1.1\r\nHost: x\r\n\r\n",
	"no path":                     "GET %d HTTP/1.1\r\nHost: x\r\n\r\n",
	"a path that is not encoded":  "GET /api/%%%d%%zz HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\n\r\n",
	"a query that is not encoded": "GET /api/v1/product/categorization?query=%d%%zz HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\n\r\n",
	"bytes that are no text":      "GET /api/v1/product/categorization?query=%d%%ff%%fe%%00 HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\n\r\n",
	"a header without a name":     "GET /api/usage HTTP/1.1\r\nHost: x\r\n: %d\r\n\r\n",
	"a header with a NUL":         "GET /api/usage HTTP/1.1\r\nHost: x\r\nx-api-key: k\x00%d\r\n\r\n",
	"a header that breaks off":    "GET /api/usage HTTP/1.1\r\nHost: x\r\nx-api-key: %d",
	"many headers":                "GET /api/usage HTTP/1.1\r\nHost: x\r\n" + strings.Repeat("A: b\r\n", 300) + "N: %d\r\n\r\n",
	"a long id":                   "GET /api/v1 HTTP/1.1\r\nHost: x\r\nX-Request-ID: " + strings.Repeat("i", 5000) + "%d\r\n\r\n",
	"a body that breaks off":      "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n{\"query\":%d",
	"a negative length":           "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nContent-Length: -%d1\r\n\r\n{}",
	"two lengths":                 "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nContent-Length: 3%d\r\n\r\n{}",
	"a length and chunks":         "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nContent-Length: %d\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
	"chunks of no length":         "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz%d\r\n{}\r\n",
	"an unknown coding":           "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: zip%d\r\n\r\n",
	"an expectation":              "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nExpect: the-%d\r\nContent-Length: 2\r\n\r\n{}",
	"JSON of great depth":         "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nConnection: close\r\nContent-Type: application/json\r\nContent-Length: 20004\r\n\r\n%04d" + strings.Repeat("[", 20000),
	"a form of another type":      "POST /api/v1/product/categorization HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nConnection: close\r\nContent-Type: multipart/form-data; boundary=%d\r\nContent-Length: 4\r\n\r\n--x\r",
	"a tunnel":                    "CONNECT x.example:%d HTTP/1.1\r\nHost: x\r\n\r\n",
	"an upgrade":                  "GET /api/usage?%d HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
	"HTTP/2 without asking":       "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n%d",
	"a second request cut short":  "GET /healthz?%d HTTP/1.1\r\nHost: x\r\n\r\nGET /hea",
}

// started serves s on a socket until the test is over.
func started(t *testing.T, s *Service) (address string, server *http.Server) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server = s.Server(ServerOptions{AccessLog: slog.New(slog.NewJSONHandler(io.Discard, nil))})
	served := make(chan struct{})
	go func() {
		defer close(served)
		_ = server.Serve(listener)
	}()
	t.Cleanup(func() {
		server.Close()
		<-served
	})
	return listener.Addr().String(), server
}

// exchange sends bytes, ends its side, and reads all that comes back.
func exchange(address string, request []byte) ([]byte, error) {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		return nil, err
	}
	if _, err := conn.Write(request); err != nil {
		return nil, nil // it has hung up already, as it may
	}
	_ = conn.(*net.TCPConn).CloseWrite()
	answer, err := io.ReadAll(conn)
	if timeout, ok := err.(net.Error); ok && timeout.Timeout() {
		return nil, err
	}
	return answer, nil // a reset is an answer, too
}

// misfit is the i-th malformed request: a request of the list, unchanged or with some
// bytes changed.
func misfit(names []string, i int) (name string, request []byte) {
	name = names[i%len(names)]
	request = fmt.Appendf(nil, misfits[name], i)
	if random := rand.New(rand.NewPCG(uint64(i), 0)); i/len(names)%2 == 1 {
		for range 3 {
			request[random.IntN(len(request))] = byte(random.Uint32())
		}
	}
	return name, request
}

func TestTenThousandMalformedRequests(t *testing.T) {
	const requests, clients = 10_000, 16
	var log bytes.Buffer
	var logging sync.Mutex
	s := New(Options{Grants: []Grant{{Key: "k", Quota: Unlimited}}, Logger: slog.New(slog.NewTextHandler(lockedWriter{&log, &logging}, nil))})
	s.WarmUp()
	before := runtime.NumGoroutine()
	address, server := started(t, s)
	names := slices.Sorted(maps.Keys(misfits))
	var all sync.WaitGroup
	for client := range clients {
		all.Go(func() {
			for i := client; i < requests; i += clients {
				name, request := misfit(names, i)
				answer, err := exchange(address, request)
				if err != nil {
					t.Errorf("%s (%d): %v", name, i, err)
					return
				}
				checkRefusal(t, name, answer)
			}
		})
	}
	all.Wait()
	checkStanding(t, address)
	if err := server.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
	for deadline := time.Now().Add(10 * time.Second); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(deadline) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, stacks[:runtime.Stack(stacks, true)])
		}
	}
	logging.Lock()
	defer logging.Unlock()
	if strings.Contains(log.String(), "panic") {
		t.Errorf("log %.3000s", &log)
	}
}

// checkStanding fails the test unless a valid request is answered.
func checkStanding(t *testing.T, address string) {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, "http://"+address+ProductPath+"?query=sofa", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("x-api-key", "k")
	req.Close = true
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if body, err := io.ReadAll(res.Body); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("afterwards: %s, %v: %s", res.Status, err, body)
	}
}

// checkRefusal checks that the answer is complete HTTP without a server error.
func checkRefusal(t *testing.T, name string, answer []byte) {
	t.Helper()
	if len(answer) == 0 || !bytes.HasPrefix(answer, []byte("HTTP/1.")) { // hung up; or HTTP/0.9-ish
		return
	}
	res, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(answer)), nil)
	if err != nil {
		t.Errorf("%s: %v: %.300q", name, err, answer)
		return
	}
	defer res.Body.Close()
	if _, err := io.ReadAll(res.Body); err != nil || res.StatusCode == http.StatusInternalServerError {
		t.Errorf("%s: %s, %v", name, res.Status, err)
	}
}

// lockedWriter is a buffer that several goroutines log to.
type lockedWriter struct {
	w  io.Writer
	mu *sync.Mutex
}

func (l lockedWriter) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

func TestLimitsOfARequest(t *testing.T) {
	address, _ := started(t, New(Options{Grants: []Grant{{Key: "k", Quota: Unlimited}}, Logger: quiet}))
	encoded := strings.Repeat("%61", maxInput-len("https://x.example/"))
	tests := []struct {
		name, request string
		status        int
	}{
		{"the longest input, percent-encoded throughout", "GET " + WebsitePath + "?classification=naics&url=" + url.QueryEscape("https://x.example/") + encoded + " HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nConnection: close\r\n\r\n", 200},
		{"an input over that", "GET " + WebsitePath + "?classification=naics&url=https://x.example/a" + encoded + " HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nConnection: close\r\n\r\n", 414},
		{"a URL without end", "GET /" + strings.Repeat("a", 2*maxHeaderBytes) + " HTTP/1.1\r\nHost: x\r\n\r\n", 431},
		{"a header without end", "GET " + UsagePath + " HTTP/1.1\r\nHost: x\r\nx-api-key: " + strings.Repeat("k", 2*maxHeaderBytes) + "\r\n\r\n", 431},
		{"a body without end", fmt.Sprintf("POST %s HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", ProductPath, 4*maxBody, strings.Repeat(" ", maxBody+1)), 413},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			answer := ended(t, address, tt.request)
			if !strings.HasPrefix(answer, fmt.Sprintf("HTTP/1.1 %d ", tt.status)) {
				t.Errorf("answer %.200q, want status %d", answer, tt.status)
			}
		})
	}
}

// ended sends a request and reads at the same time, because a server may answer before it has
// read everything. It returns the first line of the answer.
func ended(t *testing.T, address, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	var sending sync.WaitGroup
	sending.Go(func() { _, _ = io.WriteString(conn, request) })
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		t.Error(err)
	}
	conn.Close()
	sending.Wait()
	return line
}
