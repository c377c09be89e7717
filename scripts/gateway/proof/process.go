package proof

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// command runs bulkcat with a key and nothing else in its environment.
func command(ctx context.Context, bulkcat, dir, key string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, bulkcat, args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(), "BULKCAT_API_KEY=" + key, "GORACE=" + os.Getenv("GORACE")}
	return cmd
}

// burst is the number of requests that a late gateway may send at once: half of the upstream's bucket.
func burst(rate float64) int { return max(1, int(rate/40)) }

// gateway is a running gateway, a direct child, so that a kill reaches it.
type gateway struct {
	cmd     *exec.Cmd
	address string
	log     *os.File
}

// startGateway starts the gateway and waits until it listens.
func (p *proof) startGateway() (*gateway, error) {
	g := &gateway{address: p.address}
	rate := strconv.FormatFloat(p.Rate, 'f', -1, 64) + "/s"
	if p.Learn {
		rate = "auto"
	}
	g.cmd = command(context.Background(), p.Bulkcat, p.Dir, upstreamKey, "serve", "--upstream", p.upstream.URL(),
		"--store", "store", "--api-key-file", "keys.txt", "--addr", p.address, "--rate", rate, "--burst", strconv.Itoa(burst(p.Rate)))
	var err error
	if g.log, err = os.OpenFile(filepath.Join(p.Dir, "gateway.log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o666); err != nil {
		return nil, err
	}
	g.cmd.Stderr = g.log
	if err := g.cmd.Start(); err != nil {
		return nil, err
	}
	for range 1000 {
		res, err := http.Get("http://" + p.address + "/healthz")
		if err == nil {
			return g, res.Body.Close()
		}
		time.Sleep(10 * time.Millisecond)
	}
	g.kill()
	return nil, errors.New("the gateway does not listen: see gateway.log")
}

func (g *gateway) kill() {
	_ = g.cmd.Process.Kill() // fails if the process has ended
	_ = g.cmd.Wait()
	_ = g.log.Close()
}

// stop interrupts the gateway and waits for its end.
func (g *gateway) stop() error {
	defer g.log.Close()
	return errors.Join(g.cmd.Process.Signal(syscall.SIGINT), g.cmd.Wait())
}

// charged is the number of answers that are charged to all keys.
func (g *gateway) charged() (sum int64, err error) {
	res, err := http.Get("http://" + g.address + "/metrics")
	if err != nil {
		return 0, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(strings.TrimSpace(line), " "); strings.HasPrefix(name, "bulkcat_service_answers_total{") {
			n, parseErr := strconv.ParseFloat(value, 64)
			sum, err = sum+int64(n), errors.Join(err, parseErr)
		}
	}
	return sum, err
}

// run is one client: a run of bulkcat.
type run struct {
	number int
	dir    string
	inputs []string
	ended  time.Time
	rows   map[string]row // the first row of each input
}

// row is a row of the output.
type row struct {
	status, value string
	at            time.Time // when the run had the answer
}

func (c *run) key() string { return fmt.Sprintf("key-of-client-%d-0123456789", c.number) }

// run asks for all inputs. Its error is one of the run, which may have rejected inputs.
func (c *run) run(ctx context.Context, bulkcat, gateway string) error {
	cmd := command(ctx, bulkcat, c.dir, c.key(), "product", "in.txt", "-o", "out.csv", "--base-url", gateway, "--source-columns", "--column", "1", "--no-header", "--input-format", "txt")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok && exit.ExitCode() == 3 {
		err = nil
	}
	err = errors.Join(err, os.WriteFile(filepath.Join(c.dir, "log"), stderr.Bytes(), 0o666))
	if err != nil {
		return fmt.Errorf("%s: %w: %s", c.dir, err, stderr.Bytes())
	}
	return nil
}

// read reads the output.
func (c *run) read() error {
	file, err := os.Open(filepath.Join(c.dir, "out.csv"))
	if err != nil {
		return err
	}
	defer file.Close()
	in := csv.NewReader(file)
	header, err := in.Read()
	if err != nil {
		return err
	}
	place := map[string]int{}
	for i, name := range header {
		place[name] = i
	}
	for {
		fields, err := in.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if rank := fields[place["rank"]]; rank != "" && rank != "1" {
			continue
		}
		r := row{status: fields[place["status"]], value: fields[place["value"]]}
		if text := fields[place["answered_at"]]; text != "" {
			if r.at, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return err
			}
		}
		c.rows[fields[place["input"]]] = r
	}
}
