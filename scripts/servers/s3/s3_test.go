// Package s3 runs bulkcat against versitygw, an S3 server over a folder, with toxiproxy and a proxy for HTTP faults in
// between. The environment variables BULKCAT and VERSITYGW name binaries to test; without them the tests build these.
package s3

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	v4 "github.com/aws/aws-sdk-go-v2/aws/signer/v4"

	"github.com/bulkcat/bulkcat/pipeline/storage/storagetest/s3faults"
	"github.com/bulkcat/bulkcat/scripts/process"
	"github.com/bulkcat/bulkcat/scripts/servers/network"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// records make an output of several parts of an upload.
const records = 120_000

// programs are the binaries.
var programs struct{ bulkcat, gateway string }

func TestMain(m *testing.M) {
	flag.Parse()
	if !*full {
		fmt.Println("skipped: these tests build an S3 server, which takes minutes: run make test-s3")
		return
	}
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "bulkcat-s3-")
		if err == nil {
			defer os.RemoveAll(dir)
			programs.bulkcat, err = process.Build("BULKCAT", dir, "../../..", "./cmd/bulkcat")
		}
		if err == nil {
			programs.gateway, err = process.Build("VERSITYGW", dir, ".", "github.com/versity/versitygw/cmd/versitygw")
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// world is a bucket with an input, and the way to it.
type world struct {
	t        *testing.T
	bucket   string // its folder
	input    string // the same list as a local file
	want     []byte // the output of a run over local files
	endpoint string
	network  *network.Proxy
	slowDown atomic.Int64 // of so many requests one is refused; 0 for none
	requests atomic.Int64
	held     atomic.Pointer[held]
	fault    s3faults.Fault
}

func start(t *testing.T) *world {
	t.Helper()
	root := t.TempDir()
	w := &world{t: t, bucket: filepath.Join(root, "s3", "bucket"), input: filepath.Join(root, "in.csv")}
	if err := os.MkdirAll(w.bucket, 0o777); err != nil {
		t.Fatal(err)
	}
	var list bytes.Buffer
	list.WriteString("title,number\n")
	for n := range records {
		fmt.Fprintf(&list, "wireless keyboard with backlight model %d,%d\n", n%97, n)
	}
	for _, path := range []string{w.input, filepath.Join(w.bucket, "in.csv")} {
		if err := os.WriteFile(path, list.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	w.network = network.Start(t, gateway(t, filepath.Dir(w.bucket)))
	w.proxy()
	out := filepath.Join(root, "out.csv")
	w.must(w.run(t.TempDir(), "product", w.input, "-o", out, "--carry", "all"))
	w.want = read(t, out)
	return w
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// gateway runs versitygw over a folder until the test ends.
func gateway(t *testing.T, folder string) (addr string) {
	t.Helper()
	addr = run.FreeAddr(t)
	cmd := exec.Command(programs.gateway, "--quiet", "--port", addr, "posix", folder)
	cmd.Dir, cmd.Env = t.TempDir(), append(os.Environ(), "ROOT_ACCESS_KEY=testkey", "ROOT_SECRET_KEY=testsecret")
	run.Serve(t, cmd, addr)
	return addr
}

// proxy starts the proxy that answers 503 SlowDown and has the fault.
func (w *world) proxy() {
	target := &url.URL{Scheme: "http", Host: w.network.Addr}
	forward := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(target)
			r.Out.Host = r.In.Host // is signed
			if r.In.Method == http.MethodGet && w.fault != nil {
				sign(r.Out) // the fault may have changed a header
			}
		},
		ErrorLog: log.New(io.Discard, "", 0),
		ErrorHandler: func(http.ResponseWriter, *http.Request, error) {
			panic(http.ErrAbortHandler) // the fault of the network, not an answer
		},
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		w.t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.held.Load().wait(r)
		n, every := w.requests.Add(1), w.slowDown.Load()
		if every == 0 || n%every != 0 {
			w.fault.Before(forward).ServeHTTP(rw, r)
			return
		}
		_, _ = io.Copy(io.Discard, r.Body)
		rw.WriteHeader(http.StatusServiceUnavailable)
		fmt.Fprint(rw, "<Error><Code>SlowDown</Code><Message>Reduce your request rate.</Message></Error>")
	})}
	go func() { _ = server.Serve(l) }()
	w.t.Cleanup(func() { _ = server.Close() })
	w.endpoint = "http://" + l.Addr().String()
}

// sign signs a request without a body again.
func sign(r *http.Request) {
	r.Header.Del("Authorization")
	key := aws.Credentials{AccessKeyID: "testkey", SecretAccessKey: "testsecret"}
	signer := v4.NewSigner(func(o *v4.SignerOptions) { o.DisableURIPathEscaping = true }) // as the client of S3
	if err := signer.SignHTTP(r.Context(), key, r, r.Header.Get("X-Amz-Content-Sha256"), "s3", "us-east-1", time.Now()); err != nil {
		panic(err)
	}
}

// run prepares bulkcat with a folder for its local files.
func (w *world) run(state string, args ...string) *exec.Cmd {
	cmd := exec.Command(programs.bulkcat, args...)
	cmd.Env = append(process.Without("AWS_", "BULKCAT"), "XDG_STATE_HOME="+state, "AWS_ACCESS_KEY_ID=testkey", "AWS_SECRET_ACCESS_KEY=testsecret",
		"AWS_REGION=us-east-1", "AWS_ENDPOINT_URL="+w.endpoint, "AWS_EC2_METADATA_DISABLED=true")
	cmd.SysProcAttr = process.Attributes()
	cmd.Stderr = new(bytes.Buffer)
	return cmd
}

func (w *world) must(cmd *exec.Cmd) {
	w.t.Helper()
	if err := cmd.Run(); err != nil {
		w.t.Fatalf("%v: %v\n%s", cmd.Args, err, cmd.Stderr)
	}
}

// toS3 is a run from the bucket into the bucket.
func (w *world) toS3(state string) *exec.Cmd {
	return w.run(state, "product", "s3://bucket/in.csv", "-o", "s3://bucket/out.csv", "--carry", "all")
}

// uploads are the multipart uploads that are neither completed nor aborted.
func (w *world) uploads() int {
	found, _ := filepath.Glob(filepath.Join(w.bucket, ".sgwtmp", "multipart", "*", "*"))
	return len(found)
}

// checkWhole fails the test if the output is visible and not whole.
func (w *world) checkWhole() {
	got, err := os.ReadFile(filepath.Join(w.bucket, "out.csv"))
	if err == nil && !bytes.Equal(got, w.want) {
		w.t.Errorf("an object of %d bytes is visible, want %d", len(got), len(w.want))
	}
}

// checkPublished also wants the output to be there, without uploads.
func (w *world) checkPublished() {
	w.t.Helper()
	w.checkWhole()
	if _, err := os.Stat(filepath.Join(w.bucket, "out.csv")); err != nil || w.uploads() > 0 {
		w.t.Errorf("%v; %d uploads are left", err, w.uploads())
	}
}

// watch looks at the output all the time until stop.
func (w *world) watch() (stop func()) {
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case <-time.After(10 * time.Millisecond):
				if info, err := os.Stat(filepath.Join(w.bucket, "out.csv")); err == nil && info.Size() != int64(len(w.want)) {
					w.t.Errorf("an object of %d bytes is visible, want %d", info.Size(), len(w.want))
				}
			}
		}
	}()
	return func() { close(done); <-ended }
}

func TestFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name     string
		toxic    network.Toxic
		slowDown int64
	}{
		{name: "none"},
		{name: "connections are cut", toxic: network.Toxic{Name: "cut", Type: "limit_data", Toxicity: 1, Attributes: map[string]int64{"bytes": 3_000_000}}},
		{name: "503 SlowDown", slowDown: 12},
		{name: "slow reads", toxic: network.Toxic{Name: "slow", Type: "bandwidth", Toxicity: 1, Attributes: map[string]int64{"rate": 40000}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			w := start(t)
			if c.toxic.Type != "" {
				if err := w.network.Add(c.toxic); err != nil {
					t.Fatal(err)
				}
			}
			w.slowDown.Store(c.slowDown)
			stop := w.watch()
			state := t.TempDir()
			w.must(w.toS3(state))
			stop()
			w.checkPublished()
			w.must(w.run(state, "verify", "s3://bucket/out.csv", "s3://bucket/in.csv"))
		})
	}
}

// A killed run shows nothing, and its upload stays until a rule of the bucket removes it. The next run publishes its own.
func TestKilled(t *testing.T) {
	t.Parallel()
	w, state := start(t), t.TempDir()
	w.kill(w.toS3(state), "out.csv?partNumber=2")
	if _, err := os.Stat(filepath.Join(w.bucket, "out.csv")); err == nil || w.uploads() != 1 {
		t.Errorf("after the kill the output is there (%v), with %d uploads", err == nil, w.uploads())
	}
	w.must(w.toS3(state))
	w.checkWhole()
	if _, err := os.Stat(filepath.Join(w.bucket, "out.csv")); err != nil || w.uploads() != 1 {
		t.Errorf("%v; %d uploads are left, want that of the killed run", err, w.uploads())
	}
}

// An interrupted run aborts its upload. The last records of its input would take minutes.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	w := start(t)
	list := read(t, w.input)
	for n := range 20_000 {
		list = fmt.Appendf(list, "oak table number %d,%d\n", n, n)
	}
	if err := os.WriteFile(filepath.Join(w.bucket, "in.csv"), list, 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := w.toS3(t.TempDir())
	cmd.Args = append(cmd.Args, "--rate", "100/s", "--store", filepath.Join(t.TempDir(), "answers.db")) // the store saves equal requests
	cmd.Stderr = nil
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	upload := w.start(cmd, "out.csv?partNumber=1")
	_ = cmd.Process.Signal(os.Interrupt)
	var text strings.Builder
	for lines := bufio.NewScanner(stderr); lines.Scan(); {
		text.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "press again to quit") {
			upload.release()
		}
	}
	if err := cmd.Wait(); cmd.ProcessState.ExitCode() != 130 {
		t.Errorf("the interrupted run ended with %v\n%s", err, &text)
	}
	if _, err := os.Stat(filepath.Join(w.bucket, "out.csv")); err == nil || w.uploads() > 0 {
		t.Errorf("the output is there (%v), with %d uploads\n%s", err == nil, w.uploads(), &text)
	}
}

// Of two runs on two machines the second to publish fails, and leaves the account of the first.
func TestTwoWriters(t *testing.T) {
	t.Parallel()
	w := start(t)
	late := w.toS3(t.TempDir())
	upload := w.start(late, "out.csv?partNumber=1")
	w.must(w.toS3(t.TempDir()))
	upload.release()
	if err := late.Wait(); err == nil || !strings.Contains(fmt.Sprint(late.Stderr), "the object has changed meanwhile") {
		t.Errorf("the late run ended with %v\n%s", err, late.Stderr)
	}
	w.checkPublished()
	w.must(w.run(t.TempDir(), "verify", "s3://bucket/out.csv", "s3://bucket/in.csv"))
}

// A folder of parts, all forms of the input, and an object of another program.
func TestForms(t *testing.T) {
	t.Parallel()
	w, state := start(t), t.TempDir()
	in := filepath.Join(w.bucket, "list")
	if err := os.Mkdir(in, 0o777); err != nil {
		t.Fatal(err)
	}
	whole := filepath.Join(t.TempDir(), "whole.parquet")
	w.must(w.run(state, "product", w.input, "-o", whole, "--carry", "number"))
	w.must(w.run(state, "product", w.input, "-o", "s3://bucket/list/a.csv.gz", "--limit", "1000"))
	w.must(w.run(state, "product", w.input, "-o", "s3://bucket/list/b.parquet", "--limit", "1000"))
	for _, name := range []string{"a.csv.gz", "b.parquet"} { // with its account, an output is no input of a pattern
		if err := os.Remove(filepath.Join(in, name+".run.json")); err != nil {
			t.Fatal(err)
		}
	}
	for _, input := range []string{"s3://bucket/list/a.csv.gz", "s3://bucket/list/b.parquet", "s3://bucket/l*/b.*t", "s3://bucket/list/[b].p??????"} {
		output := filepath.Join(t.TempDir(), "out.csv")
		w.must(w.run(state, "product", input, "-o", output, "--column", "input"))
		if text, err := os.ReadFile(output); err != nil || bytes.Count(text, []byte{'\n'}) < 1000 {
			t.Errorf("%s: %v, %d bytes", input, err, len(text))
		}
	}
	w.must(w.run(state, "product", "s3://bucket/in.csv", "-o", "s3://bucket/parts/", "--part-rows", "30000"))
	w.must(w.run(state, "product", "s3://bucket/in.csv", "-o", "s3://bucket/parts/", "--part-rows", "30000")) // keeps the parts
	w.must(w.run(state, "verify", "s3://bucket/parts/", "s3://bucket/in.csv"))
	w.must(w.run(state, "product", "s3://bucket/parts/", "-o", "-", "--column", "input", "--limit", "10"))
	foreign := filepath.Join(w.bucket, "out.csv")
	if err := os.WriteFile(foreign, []byte("mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	cmd := w.toS3(state)
	if err := cmd.Run(); err == nil || !strings.Contains(fmt.Sprint(cmd.Stderr), "exists and has no account") {
		t.Errorf("over another program's object: %v\n%s", err, cmd.Stderr)
	}
	if text, _ := os.ReadFile(foreign); string(text) != "mine" {
		t.Error("another program's object is overwritten")
	}
}
