package notify

import (
	"bufio"
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

// receiver keeps the bodies that it has accepted, and answers its first requests with faults.
type receiver struct {
	*httptest.Server
	faults []http.HandlerFunc // of the first requests, one for each

	mu       sync.Mutex
	requests []*http.Request
	bodies   [][]byte
	accepted [][]byte
}

func newReceiver(t *testing.T, faults ...http.HandlerFunc) *receiver {
	r := &receiver{faults: faults}
	r.Server = httptest.NewServer(http.HandlerFunc(r.serve))
	t.Cleanup(r.Close)
	return r
}

func (r *receiver) serve(w http.ResponseWriter, req *http.Request) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return
	}
	r.mu.Lock()
	n := len(r.requests)
	r.requests, r.bodies = append(r.requests, req), append(r.bodies, body)
	r.mu.Unlock()
	if n < len(r.faults) && r.faults[n] != nil {
		r.faults[n](w, req)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepted = append(r.accepted, body)
}

func status(code int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(code) }
}

// hang answers nothing until the client gives up.
func hang(_ http.ResponseWriter, req *http.Request) { <-req.Context().Done() }

func reset(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(err)
	}
	_ = conn.(*net.TCPConn).SetLinger(0) // Close sends RST
	conn.Close()
}

// cut ends in the middle of the response.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "100")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, "to be")
}

func slow(w http.ResponseWriter, _ *http.Request) {
	time.Sleep(time.Second)
	w.WriteHeader(http.StatusBadGateway)
}

func redirect(w http.ResponseWriter, req *http.Request) {
	http.Redirect(w, req, "/elsewhere", http.StatusTemporaryRedirect)
}

const testSecret = "secret-of-the-signature"

// post posts one event and returns the log.
func post(t *testing.T, options Options, facts Facts) string {
	return postOver(t, nil, options, facts)
}

// postOver is post over the connections of dial; nil for the network.
func postOver(t *testing.T, dial func(context.Context, string, string) (net.Conn, error), options Options, facts Facts) string {
	t.Helper()
	var log bytes.Buffer
	options.On, options.Secret = Occasions{End: true}, testSecret
	options.Log = slog.New(slog.NewTextHandler(&log, nil))
	n, err := New(options)
	if err != nil {
		t.Fatal(err)
	}
	if dial != nil {
		n.transport.DialContext = dial
	}
	n.Post(End, facts)
	n.Post(Outage, facts) // which the user has not asked for
	ctx, cancel := context.WithTimeout(t.Context(), 2*Limit)
	defer cancel()
	n.Close(ctx)
	return log.String()
}

// TestFaults delivers exactly one event through faults that pass.
func TestFaults(t *testing.T) {
	for name, tt := range map[string]struct {
		faults   []http.HandlerFunc
		attempts int
		accepted int
	}{
		"none":        {nil, 1, 1},
		"500 twice":   {[]http.HandlerFunc{status(500), status(500)}, 3, 1},
		"429":         {[]http.HandlerFunc{status(429)}, 2, 1},
		"reset":       {[]http.HandlerFunc{reset}, 2, 1},
		"cut":         {[]http.HandlerFunc{cut}, 2, 1},
		"slow":        {[]http.HandlerFunc{slow}, 2, 1},
		"hangs":       {[]http.HandlerFunc{hang}, 1, 0}, // the message is sent, and has all the time that is left
		"refuses":     {[]http.HandlerFunc{status(403)}, 1, 0},
		"redirects":   {[]http.HandlerFunc{redirect}, 1, 0},
		"reset, gone": {[]http.HandlerFunc{reset, status(410)}, 2, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := newReceiver(t, tt.faults...)
			log := post(t, Options{URL: r.URL + "/hook/T0P/s3cret?token=hidden"}, Facts{Output: "out.csv"})
			r.mu.Lock()
			defer r.mu.Unlock()
			if len(r.requests) != tt.attempts || len(r.accepted) != tt.accepted {
				t.Fatalf("%d attempts and %d events, want %d and %d\n%s", len(r.requests), len(r.accepted), tt.attempts, tt.accepted, log)
			}
			for i, req := range r.requests {
				checkRequest(t, req, r.bodies[i])
				if got, want := req.Header.Get("Idempotency-Key"), r.requests[0].Header.Get("Idempotency-Key"); got != want || got == "" {
					t.Errorf("the attempts have the ids %q and %q", want, got)
				}
			}
			if delivered := !strings.Contains(log, "not delivered"); delivered != (tt.accepted == 1) {
				t.Errorf("the log is %q", log)
			}
			if strings.Contains(log, "s3cret") || strings.Contains(log, "hidden") {
				t.Errorf("the log has the URL: %s", log)
			}
		})
	}
}

func checkRequest(t *testing.T, req *http.Request, body []byte) {
	t.Helper()
	mac := hmac.New(sha256.New, []byte(testSecret))
	mac.Write(body)
	if got, want := req.Header.Get("X-Bulkcat-Signature"), "sha256="+hex.EncodeToString(mac.Sum(nil)); got != want {
		t.Errorf("the signature is %q, want %q", got, want)
	}
	if req.Method != http.MethodPost || req.URL.RequestURI() != "/hook/T0P/s3cret?token=hidden" || req.Header.Get("Content-Type") != "application/json" {
		t.Errorf("got %s %s of %s", req.Method, req.URL, req.Header.Get("Content-Type"))
	}
}

// TestSlowReceiver answers after four seconds: it gets the message once.
func TestSlowReceiver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		attempts := 0
		log := postOver(t, func(context.Context, string, string) (net.Conn, error) {
			attempts++
			ours, theirs := net.Pipe()
			go func() {
				if req, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
					_, _ = io.Copy(io.Discard, req.Body)
				}
				time.Sleep(4 * time.Second)
				_, _ = io.WriteString(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
				theirs.Close()
			}()
			return ours, nil
		}, Options{URL: "http://127.0.0.1/"}, Facts{})
		if attempts != 1 || log != "" {
			t.Errorf("%d attempts, and the log is %q", attempts, log)
		}
	})
}

var errTest = errors.New("no connection")

// TestDeadReceivers gives up in time.
func TestDeadReceivers(t *testing.T) {
	for name, tt := range map[string]struct {
		answer   func(net.Conn) error // of the receiver, to a connection
		attempts int64                // at least; exactly, if 1
	}{
		"reads nothing":    {func(net.Conn) error { return nil }, 1},
		"does not connect": {func(net.Conn) error { return errTest }, 3},
		"is not there":     {func(net.Conn) error { return syscall.ECONNREFUSED }, 5},
		"hangs": {func(conn net.Conn) error {
			go func() { _, _ = io.Copy(io.Discard, conn) }()
			return nil
		}, 1},
		"answers garbage": {func(conn net.Conn) error {
			go func() {
				_, _ = http.ReadRequest(bufio.NewReader(conn))
				_, _ = conn.Write(bytes.Repeat([]byte("garbage "), 1000))
				conn.Close()
			}()
			return nil
		}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var attempts atomic.Int64
				start := time.Now()
				log := postOver(t, func(ctx context.Context, _, _ string) (net.Conn, error) {
					attempts.Add(1)
					ours, theirs := net.Pipe()
					err := tt.answer(theirs)
					if err == errTest {
						<-ctx.Done()
					}
					return ours, err
				}, Options{URL: "http://127.0.0.1/s3cret"}, Facts{})
				if took := time.Since(start); took > Limit || attempts.Load() < tt.attempts || tt.attempts == 1 && attempts.Load() > 1 || len(log) > 2*errorLimit {
					t.Errorf("gave up after %v and %d attempts", took, attempts.Load())
				}
				if !strings.Contains(log, "not delivered") || !strings.Contains(log, "error=") || strings.Contains(log, "s3cret") {
					t.Errorf("the log is %q", log)
				}
			})
		})
	}
}

func TestTLS(t *testing.T) {
	r := new(receiver)
	r.Server = httptest.NewUnstartedServer(http.HandlerFunc(r.serve))
	r.Config.ErrorLog = log.New(io.Discard, "", 0)
	r.StartTLS()
	defer r.Close()
	if log := post(t, Options{URL: r.URL + "/s3cret"}, Facts{}); !strings.Contains(log, "certificate") || strings.Contains(log, "s3cret") || len(r.requests) > 0 {
		t.Errorf("without the authority: %d requests, and the log %q", len(r.requests), log)
	}
	authorities := x509.NewCertPool()
	authorities.AddCert(r.Certificate())
	if log := post(t, Options{URL: r.URL, RootCAs: authorities}, Facts{}); log != "" || len(r.accepted) != 1 {
		t.Errorf("with the authority: %d events, and the log %q", len(r.accepted), log)
	}
}

// TestUserInURL sends the password in a header.
func TestUserInURL(t *testing.T) {
	r := newReceiver(t)
	post(t, Options{URL: strings.Replace(r.URL, "://", "://acme:s3cret@", 1)}, Facts{})
	if user, password, _ := r.requests[0].BasicAuth(); user != "acme" || password != "s3cret" {
		t.Errorf("got the user %q with the password %q", user, password)
	}
}

func TestBodies(t *testing.T) {
	three := 3
	facts := Facts{
		Status: &three, Ending: "complete", Kind: "product", Inputs: []string{"in.txt"}, Output: "a&b.csv", Seconds: 61.4,
		Error: "key k3y refused", Counts: Counts{Records: 5, Unanswered: 1, Requests: 4},
	}
	hide := func(text string) string { return strings.ReplaceAll(text, "k3y", "[secret]") }
	r := newReceiver(t)
	post(t, Options{URL: r.URL, Hide: hide}, facts)
	var e Event
	if err := json.Unmarshal(r.accepted[0], &e); err != nil {
		t.Fatal(err)
	}
	if e.Format != 1 || e.Occasion != End || *e.Status != 3 || e.Counts.Records != 5 || e.Error != "key [secret] refused" || time.Since(e.Time) > time.Minute {
		t.Errorf("got %s", r.accepted[0])
	}
	post(t, Options{URL: r.URL, Hide: hide, Format: Slack}, facts)
	want := `{"text":"bulkcat: complete: a\u0026amp;b.csv; 5 records, 1 unanswered, 4 requests, 1m1s, exit status 3\nkey [secret] refused"}`
	if got := string(r.accepted[1]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSentences(t *testing.T) {
	facts := Facts{Ending: "quota", Output: "-"}
	for occasion, want := range map[Occasion]string{
		Stop:   "bulkcat stopped (quota), resumable: standard output; 0 records, 0 unanswered, 0 requests, 0s",
		Outage: "bulkcat waits: standard output: the service is out; 0 records, 0 unanswered, 0 requests, 0s",
		Quota:  "bulkcat uses much of the quota: standard output; 0 records, 0 unanswered, 0 requests, 0s",
	} {
		if got := (Event{Occasion: occasion, Facts: facts}).sentence(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestParseOccasions(t *testing.T) {
	got, err := ParseOccasions("end,stop,outage,quota=80%")
	if want := (Occasions{true, true, true, 0.8}); got != want || err != nil {
		t.Errorf("got %v and %v, want %v", got, err, want)
	}
	for _, text := range []string{"", "end,", "start", "quota", "quota=80", "quota=0%", "quota=101%", "quota=NaN%", "end stop"} {
		if o, err := ParseOccasions(text); err == nil {
			t.Errorf("%q gives %v", text, o)
		}
	}
}

func TestWrongOptions(t *testing.T) {
	for _, options := range []Options{
		{URL: "hooks.example/s3cret"}, {URL: "ftp://hooks.example/s3cret"}, {URL: "https:///s3cret"}, {URL: "http://[s3cret"}, {URL: "https://x", Format: "xml"},
	} {
		if _, err := New(options); err == nil || strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%v: got %v", options.URL, err)
		}
	}
}

func TestCommand(t *testing.T) {
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("there is no sh")
	}
	for _, name := range []string{"ON_END", "OUTPUT", "STORE", "API_KEY", "NOTIFY", "NOTIFY_SECRET", "HEADER_FILE", "RUN_OUTPUT", "OF_LATER_VERSIONS"} {
		t.Setenv("BULKCAT_"+name, "inherited")
	}
	t.Setenv("BULKCATALOG", "of another program")
	var out bytes.Buffer
	status := 75
	c := Command{Line: `echo "$BULKCAT_RUN_EVENT $BULKCAT_RUN_STATUS $BULKCAT_RUN_OUTPUT $BULKCAT_RUN_RECORDS"; env | grep inherited; echo "$BULKCATALOG" >&2; exit 7`, Output: &out}
	err := c.Run(t.Context(), Stop, Facts{Status: &status, Output: "a b.csv", Counts: Counts{Records: 12}})
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 7 {
		t.Errorf("got %v", err)
	}
	if want := "stop 75 a b.csv 12\nof another program\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
	if err := (Command{Line: "sleep 60", Output: io.Discard, Limit: 50 * time.Millisecond}).Run(t.Context(), End, Facts{}); err == nil || !strings.Contains(err.Error(), "has not ended within 50ms") {
		t.Errorf("a command that hangs: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if err := (Command{Line: "echo started; sleep 60", Output: writerFunc(cancel)}).Run(ctx, End, Facts{}); err == nil {
		t.Error("the command has ended although the context was canceled while it ran")
	}
}

// writerFunc is called for each write.
type writerFunc func()

func (f writerFunc) Write(p []byte) (int, error) {
	f()
	return len(p), nil
}

// TestErrorsHideTheParts has a receiver answer with parts of the URL, which get into the error of net/http.
func TestErrorsHideTheParts(t *testing.T) {
	for name, tt := range map[string]struct{ url, answer, secret string }{
		"path":            {"/hook/s3cr3t", "GARBAGE /hook/s3cr3t", "s3cr3t"},
		"segment":         {"/hook/s3cr3t/more", "GARBAGE s3cr3t", "s3cr3t"},
		"escaped segment": {"/a%2Bs3cr3t", "GARBAGE a+s3cr3t", "s3cr3t"},
		"value":           {"/?token=s3cr3t", "GARBAGE s3cr3t", "s3cr3t"},
		"escaped value":   {"/?token=a%2Fs3cr3t", "GARBAGE a/s3cr3t", "s3cr3t"},
		"query":           {"/?s3cr3t", "GARBAGE ?s3cr3t", "s3cr3t"},
		"user":            {"@s3cr3t:pass/", "GARBAGE s3cr3t", "s3cr3t"},
		"password":        {"@user:s3cr3t/", "GARBAGE s3cr3t", "s3cr3t"},
		"odd password":    {"@user:s3%22cr3t/", `GARBAGE s3"cr3t`, "cr3t"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newReceiver(t)
			r.Config.Handler = http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				conn, _, err := http.NewResponseController(w).Hijack()
				if err != nil {
					panic(err)
				}
				_, _ = io.WriteString(conn, tt.answer+"\r\n\r\n")
				conn.Close()
			})
			to := r.URL + tt.url
			if user, path, ok := strings.Cut(strings.TrimPrefix(tt.url, "@"), "/"); ok && tt.url[0] == '@' {
				to = strings.Replace(r.URL, "://", "://"+user+"@", 1) + "/" + path
			}
			var logged bytes.Buffer
			n, err := New(Options{URL: to, On: Occasions{End: true}, Log: slog.New(slog.NewTextHandler(&logged, nil))})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithCancel(t.Context())
			again, err := n.attempt(ctx, "id", nil)
			if !again || err == nil || !strings.Contains(err.Error(), tt.secret) {
				t.Errorf("the receiver got no secret into the error: %v", err)
			}
			cancel()
			if text := n.hide(err.Error()); strings.Contains(text, tt.secret) || !strings.Contains(text, "malformed HTTP") {
				t.Errorf("got %s", text)
			}
		})
	}
}
