package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/scripts/process"
)

var served = flag.Duration("served", 4*time.Second, "time for which TestReloadsRefuseNothing asks the gateway")

// TestReloadsRefuseNothing has 50 clients of three keys ask a gateway that reads its keys and a new certificate again and
// again. No request gets another status than that of its input. `make reloads` does this for an hour.
func TestReloadsRefuseNothing(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("there is no SIGHUP")
	}
	t.Parallel() // the test mostly waits
	upstream, err := clienttest.NewEndpoint(clienttest.New(clienttest.Options{
		Key: testKey, Missing: 0.03,
		Limiter: &clienttest.Bucket{Rate: 100, Burst: 10}, Refusal: clienttest.Refusal{Style: clienttest.Seconds},
		Latency: 30 * time.Millisecond, Jitter: 40 * time.Millisecond,
		Faults: map[clienttest.Fault]float64{clienttest.Error500: 0.004, clienttest.Error503: 0.002, clienttest.Reset: 0.001, clienttest.Slow: 0.001},
	}))
	if err != nil {
		t.Fatal(err)
	}
	defer upstream.Close()
	g := &reloadedGateway{t: t, dir: t.TempDir(), upstream: upstream}
	g.start()
	asking, stop := context.WithTimeout(t.Context(), *served)
	defer stop()
	var clients sync.WaitGroup
	for number := range 50 {
		clients.Go(func() { g.ask(asking, number) })
	}
	for every := min(*served/16, 15*time.Second); asking.Err() == nil; {
		select {
		case <-asking.Done():
		case <-time.After(every):
			g.reload()
		}
	}
	clients.Wait()
	g.checkUsage()
	sendAfter(t, g.process, syscall.SIGTERM, "")
	wantStatus(t, g.process, exitComplete)
	_, peak := g.process.Used()
	t.Logf("%v: %d requests over %d connections, %d reloads, slowest answer %v; %d paid answers; peak memory %d MiB",
		*served, g.asked, g.connections, g.reloads, g.slowest.Round(time.Millisecond), upstream.Audit().Answers, peak>>20)
	if g.asked < 100 || g.reloads < 5 {
		t.Errorf("%d requests and %d reloads prove too little", g.asked, g.reloads)
	}
}

// reloadedGateway is a gateway, and what its clients know of it.
type reloadedGateway struct {
	t        *testing.T
	dir      string
	upstream *clienttest.Endpoint
	process  *process.Process
	url      string
	reloads  int
	refused  int // reloads of files that cannot be used
	quota    int // of each key

	mu           sync.Mutex
	certificates map[string]bool // all that were written, in DER
	asked        int
	connections  int
	slowest      time.Duration
}

// staying are the keys of all files, whose clients do not reach the limits.
var staying = [...]string{"alice", "bob in-flight=17", "carol rate=200/s burst=50"}

func keyNamed(name string) string { return "key-of-" + name }

func (g *reloadedGateway) start() {
	g.t.Helper()
	g.certificates = map[string]bool{string(writeCertificate(g.t, g.dir).Raw): true}
	g.writeKeys()
	cmd := bulkcatCommand(g.t, g.dir, "", "serve", "--upstream", g.upstream.URL(), "--store", "answers", "--rate", "100/s",
		"--api-key-file", "keys.txt", "--addr", "127.0.0.1:0", "--tls-cert", "cert.pem", "--tls-key", "key.pem")
	g.process = start(g.t, cmd)
	match, err := g.process.AwaitLog(regexp.MustCompile(`serves (https://\S+)`))
	if err != nil {
		g.t.Fatal(err)
	}
	g.url = match[1]
}

// writeKeys writes the keys that stay, in another order and with another quota each time, and every second time dave's.
func (g *reloadedGateway) writeKeys() {
	g.quota = 10_000_000 + g.reloads
	var lines strings.Builder
	for _, i := range rand.Perm(len(staying)) {
		name, limits, _ := strings.Cut(staying[i], " ")
		fmt.Fprintf(&lines, "%s name=%s quota=%d %s\n", keyNamed(name), name, g.quota, limits)
	}
	if g.daveMayAsk() {
		fmt.Fprintf(&lines, "%s name=dave quota=%d\n", keyNamed("dave"), g.quota)
	}
	g.write("keys.txt", lines.String())
}

func (g *reloadedGateway) daveMayAsk() bool { return g.reloads%2 == 1 }

func (g *reloadedGateway) write(name, text string) {
	g.t.Helper()
	if err := os.WriteFile(filepath.Join(g.dir, name), []byte(text), 0o600); err != nil {
		g.t.Fatal(err)
	}
}

// reload has the gateway read new keys and a new certificate; every fourth time it has it read files that cannot be used first.
func (g *reloadedGateway) reload() {
	if g.reloads%4 == 3 {
		g.write("keys.txt", "key-of-bob limit=6\n")
		g.write("key.pem", "no key")
		g.refused++
		g.hangUp("the API keys stay as they are", g.refused)
	}
	g.reloads++
	newest := string(writeCertificate(g.t, g.dir).Raw)
	g.mu.Lock()
	g.certificates[newest] = true
	g.mu.Unlock()
	g.writeKeys()
	g.hangUp("the API keys were read again", g.reloads)
	client := g.client("", func(presented string) {
		if presented != newest {
			g.t.Errorf("reload %d: the gateway presents an old certificate", g.reloads)
		}
	})
	defer client.CloseIdleConnections()
	want := http.StatusUnauthorized
	if g.daveMayAsk() {
		want = http.StatusOK
	}
	for path, want := range map[string]int{embedded.ReadyPath: http.StatusOK, embedded.UsagePath: want} {
		if status, body, err := g.get(client, "dave", path); err != nil || status != want {
			g.t.Errorf("reload %d: %s: %d %s %v, want %d", g.reloads, path, status, body, err, want)
		}
	}
}

// hangUp sends SIGHUP, and waits until the log has a message for the nth time.
func (g *reloadedGateway) hangUp(message string, n int) {
	g.t.Helper()
	if err := g.process.Signal(syscall.SIGHUP); err != nil {
		g.t.Fatal(err)
	}
	if err := g.process.Ready(func() error {
		if strings.Count(g.process.Log(), message) < n {
			return fmt.Errorf("it does not say for time %d that %s", n, message)
		}
		return nil
	}); err != nil {
		g.t.Fatal(err)
	}
}

// client has connections of its own, whose certificates go to presented.
func (g *reloadedGateway) client(protocol string, presented func(der string)) *http.Client {
	transport := &http.Transport{DisableKeepAlives: protocol == "short", ForceAttemptHTTP2: protocol == "h2"}
	transport.TLSClientConfig = &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(state tls.ConnectionState) error {
		presented(string(state.PeerCertificates[0].Raw))
		return nil
	}}
	return &http.Client{Transport: transport, Timeout: 2 * time.Minute}
}

func (g *reloadedGateway) get(client *http.Client, name, path string) (status int, body []byte, err error) {
	request, err := http.NewRequest(http.MethodGet, g.url+path, nil)
	if err != nil {
		return 0, nil, err
	}
	request.Header.Set("x-api-key", keyNamed(name))
	response, err := client.Do(request)
	if err != nil {
		return 0, nil, err
	}
	defer response.Body.Close()
	body, err = io.ReadAll(response.Body)
	return response.StatusCode, body, err
}

// ask asks for an input of all clients or of its own every 400 ms on average, over HTTP/2, HTTP/1.1 or a connection for each request.
func (g *reloadedGateway) ask(ctx context.Context, number int) {
	name, _, _ := strings.Cut(staying[number%len(staying)], " ")
	client := g.client([]string{"h2", "h1", "short"}[number/len(staying)%3], func(presented string) {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.connections++
		if !g.certificates[presented] {
			g.t.Error("a certificate that nobody has written")
		}
	})
	defer client.CloseIdleConnections()
	for n := 0; ctx.Err() == nil; n++ {
		select {
		case <-ctx.Done():
			return
		case <-time.After(time.Duration(rand.Int64N(int64(800 * time.Millisecond)))):
		}
		input := fmt.Sprintf("own item %d of client %d", n, number)
		if n%2 == 0 {
			input = fmt.Sprintf("shared item %d of oak", rand.IntN(20_000))
		}
		want := http.StatusOK
		if g.upstream.Missing(input) {
			want = http.StatusNotFound
		}
		asked := time.Now()
		status, body, err := g.get(client, name, embedded.ProductPath+"?query="+url.QueryEscape(input))
		took := time.Since(asked)
		if err != nil || status != want || want == http.StatusOK && !strings.Contains(string(body), input) {
			g.t.Errorf("%s: client %d of %s asks for %q: %d %s %v, want %d", asked.Format(time.TimeOnly), number, name, input, status, body, err, want)
		}
		g.mu.Lock()
		g.asked, g.slowest = g.asked+1, max(g.slowest, took)
		g.mu.Unlock()
	}
}

// checkUsage compares what was charged to the keys with the inputs that the upstream has answered.
func (g *reloadedGateway) checkUsage() {
	client, used := g.client("h2", func(string) {}), 0
	defer client.CloseIdleConnections()
	for _, limits := range staying {
		name, _, _ := strings.Cut(limits, " ")
		var usage struct {
			Remaining json.Number `json:"remaining"`
		}
		_, body, err := g.get(client, name, embedded.UsagePath)
		left, notNumber := int64(0), error(nil)
		if err = errors.Join(err, json.Unmarshal(body, &usage)); err == nil {
			left, notNumber = usage.Remaining.Int64()
		}
		if err = errors.Join(err, notNumber); err != nil {
			g.t.Errorf("%s: %s: %v", name, body, err)
		}
		used += g.quota - int(left)
	}
	paid := 0
	for _, input := range g.upstream.Audit().Inputs {
		paid += min(input.Answers, 1)
	}
	if used != paid {
		g.t.Errorf("%d answers were charged to the keys, and the upstream has answered %d inputs", used, paid)
	}
}
