package proof

import (
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
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// command runs bulkcat with a key and nothing else in its environment.
func command(bulkcat, dir, key string, args ...string) *exec.Cmd {
	cmd := exec.Command(bulkcat, args...)
	cmd.Dir, cmd.Env = dir, process.Isolated(dir, "BULKCAT_API_KEY="+key)
	return cmd
}

// burst is the number of requests that a late gateway may send at once: half of the upstream's bucket.
func burst(rate float64) int { return max(1, int(rate/40)) }

// startGateway starts the gateway and waits until it listens.
func (p *proof) startGateway(ctx context.Context) (*process.Process, error) {
	rate := strconv.FormatFloat(p.Rate, 'f', -1, 64) + "/s"
	if p.Learn {
		rate = "auto"
	}
	g, err := process.Start(ctx, command(p.Bulkcat, p.Dir, upstreamKey, "serve", "--upstream", p.upstream.URL(),
		"--store", "store", "--api-key-file", "keys.txt", "--addr", p.address, "--rate", rate, "--burst", strconv.Itoa(burst(p.Rate))),
		filepath.Join(p.Dir, "gateway.log"))
	if err != nil {
		return nil, err
	}
	return g, g.Ready(process.Listening(p.address))
}

// charged is the number of answers that are charged to all keys.
func (p *proof) charged() (sum int64, err error) {
	res, err := http.Get("http://" + p.address + "/metrics")
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
	cmd := command(bulkcat, c.dir, c.key(), "product", "in.txt", "-o", "out.csv", "--base-url", gateway, "--source-columns", "--column", "1", "--no-header", "--input-format", "txt")
	p, err := process.Start(ctx, cmd, filepath.Join(c.dir, "log"))
	if err != nil {
		return err
	}
	if err := p.Wait(); err != nil && p.Status() != 3 {
		return fmt.Errorf("%s: %w: %s", c.dir, err, p.Log())
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
