package proof

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// startGateway starts the gateway and waits until it listens.
func (p *proof) startGateway(ctx context.Context) (*process.Process, error) {
	g, err := process.Start(ctx, process.Bulkcat(p.Bulkcat, p.Dir, "", upstreamKey, "serve", "--upstream", p.upstream.URL(),
		"--store", "store", "--api-key-file", "keys.txt", "--addr", p.address, "--rate", fmt.Sprintf("%v/s", p.Rate)), filepath.Join(p.Dir, "gateway.log"))
	if err != nil {
		return nil, err
	}
	return g, g.Ready(process.Listening(p.address)) // an error if the gateway has ended
}

// charged returns the number of answers that were charged to all keys.
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

// client is a run of bulkcat.
type client struct {
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

func (c *client) key() string { return fmt.Sprintf("key-of-client-%d-0123456789", c.number) }

// run asks for all inputs. Rejected inputs are no error.
func (c *client) run(ctx context.Context, bulkcat, gateway string) error {
	cmd := process.Bulkcat(bulkcat, c.dir, gateway, c.key(), "product", "in.txt", "-o", "out.csv", "--source-columns", "--column", "1", "--dialect", "header=none", "--input-format", "txt")
	p, err := process.Start(ctx, cmd, filepath.Join(c.dir, "log"))
	if err != nil {
		return err
	}
	if err := p.Complete(3); err != nil {
		return fmt.Errorf("%s: %w", c.dir, err)
	}
	return nil
}

// read reads the output.
func (c *client) read() error {
	rows, err := process.Rows(filepath.Join(c.dir, "out.csv"))
	for _, fields := range rows {
		if rank := fields["rank"]; rank != "" && rank != "1" {
			continue
		}
		r := row{status: fields["status"], value: fields["value"]}
		if text := fields["answered_at"]; text != "" {
			if r.at, err = time.Parse(time.RFC3339Nano, text); err != nil {
				return err
			}
		}
		c.rows[fields["input"]] = r
	}
	return err
}
