//go:build unix

package main

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/pipeline/notify"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// hook is a receiver of events. It checks signatures.
type hook struct {
	*httptest.Server
	t      *testing.T
	mu     sync.Mutex
	events []notify.Event
	bodies string
}

const hookSecret = "secret-of-the-hook"

func newHook(t *testing.T) *hook {
	h := &hook{t: t}
	h.Server = httptest.NewServer(h)
	t.Cleanup(h.Close)
	return h
}

func (h *hook) ServeHTTP(_ http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		h.t.Error(err)
	}
	mac := hmac.New(sha256.New, []byte(hookSecret))
	mac.Write(body)
	if want := "sha256=" + hex.EncodeToString(mac.Sum(nil)); r.Header.Get(notify.SignatureHeader) != want {
		h.t.Errorf("the signature is %q, want %q", r.Header.Get(notify.SignatureHeader), want)
	}
	var e notify.Event
	if err := json.Unmarshal(body, &e); err != nil {
		h.t.Error(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.events, h.bodies = append(h.events, e), h.bodies+string(body)
}

// told gives the events so far.
func (h *hook) told() []notify.Event {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.events)
}

// notified is a run that tells a hook of its ending.
type notifiedRun struct {
	*process.Process
	dir string
}

// startNotified starts a run over 20 titles. The URL of the hook has a secret path.
func startNotified(t *testing.T, hook, service string, args ...string) *notifiedRun {
	t.Helper()
	dir := t.TempDir()
	writeTitles(t, filepath.Join(dir, "in.txt"), 20)
	if err := os.WriteFile(filepath.Join(dir, "odd.txt"), []byte("Garden hose\nhttp://[\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := bulkcatCommand(t, dir, service, args...)
	cmd.Env = append(cmd.Env, "BULKCAT_FETCH=never",
		"BULKCAT_NOTIFY="+hook+"/services/h1dden", "BULKCAT_NOTIFY_SECRET="+hookSecret,
		`BULKCAT_ON_END=echo "$BULKCAT_RUN_EVENT $BULKCAT_RUN_STATUS $BULKCAT_RUN_ENDING $BULKCAT_RUN_RECORDS $BULKCAT_RUN_OUTPUT" >> ended.txt`)
	return &notifiedRun{start(t, cmd), dir}
}

// ended are the lines that the command of --on-end has written.
func (r *notifiedRun) ended(t *testing.T) string {
	return read(t, filepath.Join(r.dir, "ended.txt"))
}

// TestOneEventForEachEnding wants one event, and one run of the command, for each ending.
func TestOneEventForEachEnding(t *testing.T) {
	hearHangups()
	quota := httptest.NewServer(embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: testKey, Quota: 5}}}))
	t.Cleanup(quota.Close)
	free := httptest.NewServer(unlimited())
	t.Cleanup(free.Close)
	stranger := httptest.NewServer(embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: "another-key-0123456789", Quota: embedded.Unlimited}}}))
	t.Cleanup(stranger.Close)
	product := func(args ...string) []string {
		return append([]string{"product", "in.txt", "-o", "out.csv", "--quiet", "--workers", "1"}, args...)
	}
	for name, tt := range map[string]struct {
		service string // "" for one that keeps requests waiting
		args    []string
		signals []syscall.Signal
		want    string // of the event, and of the command
	}{
		"complete":     {service: free.URL, args: product(), want: "end 0 complete 20 out.csv"},
		"invalid":      {service: free.URL, args: []string{"website", "odd.txt", "-o", "out.csv", "--quiet", "--rate", "0"}, want: "end 3 complete 2 out.csv"},
		"quota":        {service: quota.URL, args: product(), want: "stop 75 quota 5 out.csv"},
		"budget":       {service: free.URL, args: product("--max-requests", "3"), want: "stop 5 budget 3 out.csv"},
		"wrong key":    {service: stranger.URL, args: product(), want: "end 1 failed 0 out.csv"},
		"no key":       {service: free.URL, args: product("--api-key-file", "nowhere"), want: "end 2 failed 0 out.csv"},
		"no input":     {service: free.URL, args: []string{"product", "nowhere.txt", "-o", "out.csv"}, want: "end 1 failed 0 out.csv"},
		"no column":    {service: free.URL, args: product("--classification", "naics"), want: "end 2 failed 0 out.csv"},
		"interrupted":  {args: product("--grace", "1ms"), signals: []syscall.Signal{syscall.SIGINT}, want: "stop 130 interrupted 0 out.csv"},
		"terminated":   {args: product("--grace", "1ms"), signals: []syscall.Signal{syscall.SIGTERM}, want: "stop 143 interrupted 0 out.csv"},
		"quit":         {args: product(), signals: []syscall.Signal{syscall.SIGINT, syscall.SIGINT}, want: "stop 130 interrupted 0 out.csv"},
		"quit by TERM": {args: product(), signals: []syscall.Signal{syscall.SIGINT, syscall.SIGTERM}, want: "stop 130 interrupted 0 out.csv"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			hook := newHook(t)
			service := tt.service
			var held *heldService
			if service == "" {
				held = holdAll(t)
				service = held.URL
			}
			r := startNotified(t, hook.URL, service, tt.args...)
			if held != nil {
				<-held.holding
				defer close(held.release)
			}
			for _, s := range tt.signals {
				if err := r.Signal(s); err != nil && len(tt.signals) == 1 {
					t.Error(err)
				}
				time.Sleep(50 * time.Millisecond) // two signals at once may arrive in either order
			}
			checkEnding(t, r, hook, r.Status(), tt.want)
		})
	}
}

func checkEnding(t *testing.T, r *notifiedRun, hook *hook, status int, want string) {
	t.Helper()
	events := hook.told()
	if len(events) != 1 {
		t.Fatalf("%d events, want 1\n%s", len(events), r.Log())
	}
	e := events[0]
	if got := fmt.Sprint(e.Occasion, " ", *e.Status, " ", e.Ending, " ", e.Counts.Records, " ", e.Output); got != want || *e.Status != status {
		t.Errorf("the exit status is %d, and the event %s, want %s\n%s", status, hook.bodies, want, r.Log())
	}
	if got := r.ended(t); got != want+"\n" {
		t.Errorf("the command says %q, want %q", got, want)
	}
	for _, secret := range []string{testKey, hookSecret, "h1dden"} {
		if strings.Contains(hook.bodies, secret) || strings.Contains(r.Log(), secret) {
			t.Errorf("%s is told\n%s\n%s", secret, hook.bodies, r.Log())
		}
	}
}

// TestDeadReceiverDecidesNothing delays the exit for as long as the limit, and leaves the exit status and the output.
func TestDeadReceiverDecidesNothing(t *testing.T) {
	t.Parallel()
	silent, err := net.Listen("tcp", "127.0.0.1:0") // accepts connections, and never reads
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	free := httptest.NewServer(unlimited())
	defer free.Close()
	start := time.Now()
	r := startNotified(t, "http://"+silent.Addr().String(), free.URL, "product", "in.txt", "-o", "out.csv", "--rate", "0")
	if got := r.Status(); got != exitComplete {
		t.Errorf("exit status %d\n%s", got, r.Log())
	}
	if took := time.Since(start); took > notify.Limit+5*time.Second { // with the run itself
		t.Errorf("the run took %v", took)
	}
	checkTold(t, r.Log(), "Complete after", "not delivered", silent.Addr().String())
	if strings.Contains(r.Log(), "h1dden") {
		t.Errorf("the URL is told: %s", r.Log())
	}
	if got := r.ended(t); got != "end 0 complete 20 out.csv\n" {
		t.Errorf("the command says %q", got)
	}
}

// TestNotifyOverTLS trusts the authority of --ca-file.
func TestNotifyOverTLS(t *testing.T) {
	hook := &hook{t: t}
	hook.Server = httptest.NewTLSServer(hook)
	defer hook.Close()
	free := httptest.NewServer(unlimited())
	defer free.Close()
	dir := t.TempDir()
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: hook.Certificate().Raw})
	if err := os.WriteFile(filepath.Join(dir, "ca.pem"), authority, 0o666); err != nil {
		t.Fatal(err)
	}
	r := startNotified(t, hook.URL+"/h1dden", free.URL, "product", "in.txt", "-o", "out.csv", "--ca-file", filepath.Join(dir, "ca.pem"))
	checkEnding(t, r, hook, r.Status(), "end 0 complete 20 out.csv")
}

// TestEventsOfARun posts events while the run goes on.
func TestEventsOfARun(t *testing.T) {
	hook := newHook(t)
	var asked atomic.Int64
	quota := embedded.New(embedded.Options{Grants: []embedded.Grant{{Key: testKey, Quota: 25}}})
	out := make(chan struct{}) // closed when the outage has been told
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if asked.Add(1) > 10 {
			select {
			case <-out:
			default:
				w.WriteHeader(http.StatusBadGateway)
				return
			}
		}
		quota.ServeHTTP(w, r)
	}))
	defer service.Close()
	r := startNotified(t, hook.URL, service.URL, "product", "in.txt", "-o", "out.csv", "--workers", "2", "--rate", "0", "--notify-on", "end,outage,quota=60%")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	await(ctx.Done(), func() bool { return len(hook.told()) > 0 })
	close(out)
	if got := r.Status(); got != exitComplete {
		t.Fatalf("exit status %d\n%s", got, r.Log())
	}
	var occasions []string
	for _, e := range hook.told() {
		occasions = append(occasions, string(e.Occasion))
	}
	slices.Sort(occasions[1:]) // the last two may overtake each other
	if got := strings.Join(occasions, " "); got != "outage end quota" {
		t.Errorf("got the events %s\n%s", got, r.Log())
	}
}

// TestFactsAreNoFlags keeps the variables of a command apart from those of flags: a bulkcat that the command starts
// would take the facts for flags.
func TestFactsAreNoFlags(t *testing.T) {
	var out strings.Builder
	if err := (notify.Command{Line: "env", Output: &out}).Run(t.Context(), notify.End, notify.Facts{}); err != nil {
		t.Fatal(err)
	}
	facts := 0
	for line := range strings.Lines(out.String()) {
		name, _, _ := strings.Cut(line, "=")
		if strings.HasPrefix(name, "BULKCAT_RUN_") {
			facts++
		} else if strings.HasPrefix(name, "BULKCAT_") {
			t.Errorf("the command has %s", name)
		}
	}
	if facts < 5 {
		t.Errorf("the command has only %d facts", facts)
	}
	for _, cmd := range allCommands(newRoot(streams{})) {
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if strings.HasPrefix(variable(f.Name), "BULKCAT_RUN_") {
				t.Errorf("%s has --%s, whose variable is that of a fact", cmd.CommandPath(), f.Name)
			}
		})
	}
}

func TestResumeCommandHidesURL(t *testing.T) {
	for given, want := range map[string]string{
		"bulkcat product in.txt --notify https://x/y -o out.csv": "bulkcat product in.txt -o out.csv",
		"bulkcat product in.txt --notify=https://x/y":            "bulkcat product in.txt",
		"bulkcat product in.txt --notify":                        "bulkcat product in.txt",
		"bulkcat product in.txt --notify-on end":                 "bulkcat product in.txt --notify-on end",
	} {
		args, hidden := without("--notify", strings.Fields(given))
		if got := strings.Join(args, " "); got != want || hidden != (given != want) {
			t.Errorf("%s: got %s and %v", given, got, hidden)
		}
	}
}

// TestHideKeyOfBefore replaces the file of the key during the run.
func TestHideKeyOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	f := new(runFlags)
	f.service.apiKeyFile = path
	for _, key := range []string{"the-first-key", "the-second-key"} {
		if err := os.WriteFile(path, []byte(key), 0o600); err != nil {
			t.Fatal(err)
		}
		if f.service.key == "" {
			if _, err := f.service.apiKey(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := f.hide("refused: the-first-key"); got != "refused: [secret]" {
		t.Error(got)
	}
}
