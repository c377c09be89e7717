package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/scripts/process"
)

func TestMain(m *testing.M) {
	// With the race detector, a process sleeps for a second before it exits, and the tests
	// start hundreds. Any other settings of it hold.
	os.Setenv("GORACE", "atexit_sleep_ms=0 "+os.Getenv("GORACE"))
	if strings.Contains(filepath.Base(os.Args[0]), ".test") { // not one of the processes that the tests start
		os.Setenv("XDG_STATE_HOME", filepath.Join(os.TempDir(), "bulkcat-tests-"+strconv.Itoa(os.Getpid()))) // not the user's
	}
	testscript.Main(m, map[string]func(){"bulkcat": main})
}

// TestScripts runs the command line as a user does. Beside testscript's own commands
// the scripts have these:
//
//	status N COMMAND...     runs COMMAND and wants the exit status N
//	service [hold=N]        starts a Categorization Service and points BULKCAT_BASE_URL
//	                        at it; it keeps the N-th request and those after waiting;
//	                        with odd=N the N-th answer is a redirection to another host,
//	                        with misrouted=N nothing is found for 2 s from the N-th on
//	interrupt SIGNAL[:FILE] N COMMAND...
//	                        runs COMMAND, sends SIGNAL once the service keeps requests
//	                        waiting (and FILE is there), lets those go, and wants the
//	                        exit status N
//	held                    waits until the service keeps requests waiting
//	release                 lets those go
//	asked N                 wants N categorizations since the service was started
//	listening ADDR          waits until something accepts connections at ADDR
//	get URL KEY             prints the status, the headers and the body that http://URL gives for KEY
//	foreign [json] website=NAME product=NAME
//	                        starts a service that reads its inputs under other names
//	indiscreet              starts one that tells secrets, with TLS (see ca.pem), and
//	                        another host that it redirects to
//	requests N              wants N requests to the foreign service, or to the other host
//	odd REMAINING           starts a service whose responses break the interface; REMAINING, in
//	                        JSON, is left of its account
//	! tells DIR TEXT...     wants none of the texts in any file below DIR
//	stored STORE FILE       adds answers to a store, those of the lines of FILE: the columns of the
//	                        table answers as JSON, with source for service
//
// The scripts start a thousand processes, which take five times as long with the race detector. With it, they run a
// program without; the other tests of processes run this program, with it.
func TestScripts(t *testing.T) {
	hearHangups()
	path := os.Getenv("PATH")
	if raceDetector {
		dir := t.TempDir()
		if output, err := exec.Command("go", "build", "-race=false", "-o", filepath.Join(dir, "bulkcat"), ".").CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, output)
		}
		path = dir + string(filepath.ListSeparator) + path
	}
	samples, err := filepath.Abs("../../testdata")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("SAMPLES", samples)
			env.Setenv("PATH", path)
			env.Setenv("KEY", testKey)
			env.Setenv("BULKCAT_FETCH", "never") // no test uses the network
			env.Setenv("XDG_STATE_HOME", filepath.Join(env.WorkDir, ".tmp", "state"))
			env.Setenv("STORE", filepath.Join(env.WorkDir, ".tmp", "state", "bulkcat", "answers.db"))
			env.Setenv("ADDR", freeAddress(t))
			env.Setenv("GATEWAY", freeAddress(t))
			env.Setenv("GORACE", os.Getenv("GORACE"))
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"status":    cmdStatus,
			"service":   cmdService,
			"interrupt": cmdInterrupt,
			"held":      cmdHeld,
			"release":   cmdRelease,
			"asked":     cmdAsked,
			"listening": cmdListening,
			"get":       cmdGet,

			"foreign":    cmdForeign,
			"requests":   cmdRequests,
			"indiscreet": cmdIndiscreet,
			"tells":      cmdTells,
			"odd":        cmdOdd,
			"replies":    cmdReplies,
			"stored":     cmdStored,
		},
	})
}

// hearHangups lets the programs that tests start receive SIGHUP, even if the tests run under nohup: child
// processes inherit ignored signals.
func hearHangups() { signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) }

func cmdStatus(ts *testscript.TestScript, _ bool, args []string) {
	err := ts.Exec(args[1], args[2:]...)
	if got := statusOf(err); strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit status %d, want %s", got, args[0])
	}
}

// statusOf is -1 for a process ended by a signal.
func statusOf(err error) int {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return exit.ExitCode()
	}
	if err != nil {
		return -2
	}
	return 0
}

// testKey is the key of the services that tests start.
const testKey = "key-of-the-tests-0123456789"

// unlimited is shared by all tests, because its engines take seconds to build.
var unlimited = sync.OnceValue(func() *embedded.Service {
	return embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: testKey, Quota: embedded.Unlimited}}})
})

// heldService is the embedded service behind a gate, with an audit.
type heldService struct {
	*httptest.Server
	hold    int           // the first request kept waiting; 0 for none
	odd     int           // the request that is redirected to another host; 0 for none
	lost    int           // the request from which on nothing is found for a while; 0 for none
	holding chan struct{} // closed when the request has come
	release chan struct{} // closed to let requests go

	mu    sync.Mutex
	asked int
	found time.Time // when requests are found again
}

// misrouted reports whether the n-th request gets 404.
func (s *heldService) misrouted(n int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if n == s.lost {
		s.found = time.Now().Add(2 * time.Second)
	}
	return time.Now().Before(s.found)
}

func (s *heldService) handle(next http.Handler) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == embedded.UsagePath {
			next.ServeHTTP(w, r)
			return
		}
		s.mu.Lock()
		s.asked++
		n := s.asked
		s.mu.Unlock()
		if s.hold > 0 && n == s.hold {
			close(s.holding)
		}
		if s.hold > 0 && n >= s.hold {
			<-s.release
		}
		switch {
		case s.misrouted(n):
			http.NotFound(w, r)
			return
		case n == s.odd:
			http.Redirect(w, r, "http://other.invalid/", http.StatusFound)
			return
		}
		next.ServeHTTP(w, r)
	}
}

func cmdService(ts *testscript.TestScript, _ bool, args []string) {
	s := &heldService{holding: make(chan struct{}), release: make(chan struct{})}
	quota := embedded.Unlimited
	for _, arg := range args {
		name, value, _ := strings.Cut(arg, "=")
		n, err := strconv.Atoi(value)
		ts.Check(err)
		switch name {
		case "hold":
			s.hold = n
		case "odd":
			s.odd = n
		case "misrouted":
			s.lost = n
		case "quota":
			quota = embedded.Quota(n)
		default:
			ts.Fatalf("unknown setting %s", name)
		}
	}
	handler := unlimited()
	if quota != embedded.Unlimited {
		handler = embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: testKey, Quota: quota}}})
	}
	if last, ok := services.LoadAndDelete(ts.Name()); ok { // the next has the same address, and so the same stored answers
		last.(*heldService).CloseClientConnections()
		last.(*heldService).Close()
	}
	var (
		listener net.Listener
		err      error
	)
	await(nil, func() bool { // a process that has just started may hold the last listener for a moment
		listener, err = net.Listen("tcp", ts.Getenv("ADDR"))
		return !errors.Is(err, syscall.EADDRINUSE)
	})
	ts.Check(err)
	s.Server = &httptest.Server{Listener: listener, Config: &http.Server{Handler: s.handle(handler)}}
	s.Start()
	ts.Defer(s.Close)
	ts.Setenv("BULKCAT_BASE_URL", s.URL)
	ts.Setenv("BULKCAT_API_KEY", ts.Getenv("KEY"))
	services.Store(ts.Name(), s)
}

// services are the running services by script.
var services sync.Map

func serviceOf(ts *testscript.TestScript) *heldService {
	s, ok := services.Load(ts.Name())
	if !ok {
		ts.Fatalf("no service was started")
	}
	return s.(*heldService)
}

func cmdInterrupt(ts *testscript.TestScript, _ bool, args []string) {
	s := serviceOf(ts)
	name, file, _ := strings.Cut(args[0], ":")
	sent := map[string]syscall.Signal{"INT": syscall.SIGINT, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": syscall.SIGKILL}[name]
	path, err := exec.LookPath(args[2])
	if err != nil {
		path = filepath.Join(ts.Getenv("WORK"), ".bin", args[2])
	}
	stderr, err := os.Create(ts.MkAbs("interrupt.stderr"))
	ts.Check(err)
	defer stderr.Close()
	cmd := exec.Command(path, args[3:]...)
	cmd.Dir, cmd.Env, cmd.Stderr = ts.MkAbs("."), scriptEnv(ts), stderr
	ts.Check(cmd.Start())
	ended := make(chan struct{})
	go func() { err = cmd.Wait(); close(ended) }()
	says := func(text string) bool { return strings.Contains(ts.ReadFile("interrupt.stderr"), text) }
	select {
	case <-s.holding:
	case <-ended:
		ts.Fatalf("ended before the signal: %v\n%s", err, ts.ReadFile("interrupt.stderr"))
	}
	if file != "" {
		await(ended, func() bool { _, err := os.Stat(ts.MkAbs(file)); return err == nil })
	}
	ts.Check(cmd.Process.Signal(sent))
	switch {
	case sent == syscall.SIGKILL:
		<-ended
	case args[1] != "0": // the signal is noticed before requests go on
		await(ended, func() bool { return says("press again to quit") })
	}
	close(s.release)
	<-ended
	if got := statusOf(err); strconv.Itoa(got) != args[1] {
		ts.Fatalf("exit status %d, want %s\n%s", got, args[1], ts.ReadFile("interrupt.stderr"))
	}
}

// await waits until a condition holds, or a process has ended.
func await(ended <-chan struct{}, isSo func() bool) {
	ticker := time.NewTicker(2 * time.Millisecond)
	defer ticker.Stop()
	for !isSo() {
		select {
		case <-ended:
			return
		case <-ticker.C:
		}
	}
}

// scriptEnv gives commands the environment of the script.
func scriptEnv(ts *testscript.TestScript) []string {
	env := []string{}
	for _, name := range []string{"PATH", "HOME", "TMPDIR", "XDG_STATE_HOME", "WORK", "BULKCAT_BASE_URL", "BULKCAT_API_KEY", "BULKCAT_FETCH", "GORACE", "TESTSCRIPT_COVER_DIR", "SLURM_ARRAY_TASK_ID", "SLURM_ARRAY_TASK_MIN", "SLURM_ARRAY_TASK_COUNT"} {
		env = append(env, name+"="+ts.Getenv(name))
	}
	return env
}

func cmdHeld(ts *testscript.TestScript, _ bool, _ []string) { <-serviceOf(ts).holding }

func cmdRelease(ts *testscript.TestScript, _ bool, _ []string) { close(serviceOf(ts).release) }

func cmdAsked(ts *testscript.TestScript, _ bool, args []string) {
	s := serviceOf(ts)
	s.mu.Lock()
	defer s.mu.Unlock()
	if strconv.Itoa(s.asked) != args[0] {
		ts.Fatalf("%d categorizations, want %s", s.asked, args[0])
	}
}

func cmdListening(ts *testscript.TestScript, _ bool, args []string) {
	for began := time.Now(); ; {
		conn, err := net.Dial("tcp", args[0])
		if err == nil {
			conn.Close()
			return
		}
		if !errors.Is(err, syscall.ECONNREFUSED) || time.Since(began) > time.Minute { // the server has failed
			ts.Fatalf("%v", err)
		}
	}
}

func cmdGet(ts *testscript.TestScript, _ bool, args []string) {
	request, err := http.NewRequest(http.MethodGet, "http://"+args[0], nil)
	ts.Check(err)
	request.Header.Set("X-Api-Key", args[1])
	response, err := http.DefaultClient.Do(request)
	ts.Check(err)
	defer response.Body.Close()
	fmt.Fprintln(ts.Stdout(), response.Status)
	ts.Check(response.Header.Write(ts.Stdout()))
	_, err = io.Copy(ts.Stdout(), response.Body)
	ts.Check(err)
}

func freeAddress(t *testing.T) string {
	t.Helper()
	addr, err := process.FreeAddr()
	if err != nil {
		t.Fatal(err)
	}
	return addr
}
