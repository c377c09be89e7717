package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// bareMode runs the loop that bulkcat is compared with. The loop makes the same requests to the
// same service with net/http and encoding/json, and does nothing else: it reads no input, stores
// no answer and writes no row.
func bareMode(ctx context.Context, args []string, _ io.Writer) error {
	var b bare
	inFlight := 0
	flags := flag.NewFlagSet("bare", flag.ContinueOnError)
	flags.StringVar(&b.url, "url", "", "of the service")
	flags.Int64Var(&b.records, "records", 0, "to ask for")
	flags.IntVar(&inFlight, "in-flight", 1, "requests at once")
	flags.Var(&b.protocol, "protocol", "that the service must answer in")
	caFile := flags.String("ca-file", "", "trust the certificate authorities in this file")
	if err := flags.Parse(args); err != nil {
		return err
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConns, transport.MaxIdleConnsPerHost = inFlight, inFlight
	if *caFile != "" {
		text, err := os.ReadFile(*caFile)
		if err != nil {
			return err
		}
		roots, err := client.RootCAs(text)
		if err != nil {
			return err
		}
		transport.TLSClientConfig = &tls.Config{RootCAs: roots}
	}
	b.client = &http.Client{Transport: transport}
	group, ctx := errgroup.WithContext(ctx)
	for range inFlight {
		group.Go(func() error { return b.loop(ctx) })
	}
	return group.Wait()
}

// bare is the loop's state.
type bare struct {
	url      string
	protocol clienttest.Protocol
	records  int64
	next     atomic.Int64
	client   *http.Client
}

func (b *bare) loop(ctx context.Context) error {
	for {
		number := b.next.Add(1) - 1
		if number >= b.records {
			return nil
		}
		if err := b.ask(ctx, website(int(number))); err != nil {
			return err
		}
	}
}

// bareAnswer is the plain form of an answer.
type bareAnswer struct {
	Entries []struct {
		Value      string  `json:"value"`
		Confidence float64 `json:"confidence"`
	} `json:"taxonomy_v3"`
}

func (b *bare) ask(ctx context.Context, input string) error {
	target := b.url + "/api/v1/website/categorization?url=" + url.QueryEscape(input) + "&classification=taxonomy_v3"
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return err
	}
	req.Header.Set("x-api-key", apiKey)
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "bulkcat")
	resp, err := b.client.Do(req)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("the service answered %s", resp.Status)
	}
	if resp.ProtoMajor != b.protocol.Major() {
		return fmt.Errorf("the service answered in %s instead of %v", resp.Proto, b.protocol)
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return err
	}
	var answer bareAnswer
	if err := json.Unmarshal(body, &answer); err != nil {
		return err
	}
	if len(answer.Entries) == 0 {
		return fmt.Errorf("no entries for %s", input)
	}
	return nil
}

// bare runs the loop on the client's core.
func (r *rig) bare(ctx context.Context, s *server, records, inFlight int) (effort, error) {
	return r.complete(ctx, clientCore, nil, r.self, "bare", "-url", s.url, "-protocol", s.protocol.String(), "-ca-file", s.caFile,
		"-records", fmt.Sprint(records), "-in-flight", fmt.Sprint(inFlight))
}

// firstRecords is the number of records that measure the loop's rate for the first time.
const firstRecords = 20_000

// bareRate returns the rate, in records per second, of a loop against a service without latency. The rate sets the number of
// records of all other arms, and is the base of figures without a service.
func (r *rig) bareRate(ctx context.Context, records int) (float64, error) {
	server, err := r.serve(ctx, clienttest.Lean{})
	if err != nil {
		return 0, err
	}
	defer server.close()
	e, err := r.bare(ctx, server, records, inFlight[0])
	return float64(records) / e.wall.Seconds(), err
}
