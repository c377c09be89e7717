package nights

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/limits"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/reader"
)

// outcome is what came of a night.
type outcome struct {
	took, ideal time.Duration
	sent        int // requests later than 30 s after the beginning
	refused     int // of these
	rechecks    int // requests that the run has repeated to test the service
	outages     int // that the run has seen, beyond those that there were
	wrong       []string
}

func (o outcome) ratio() float64 { return o.took.Seconds() / o.ideal.Seconds() }

func (o *outcome) fail(format string, args ...any) {
	if len(o.wrong) < 5 {
		o.wrong = append(o.wrong, fmt.Sprintf(format, args...))
	}
}

// service is the service of a night that begins now.
func (n *night) service() *clienttest.Server {
	start := time.Now()
	o := clienttest.Options{
		Seed: n.seed, Missing: n.missing, AtOnce: n.atOnce, Refusal: n.refusal, States: n.states, Clock: n.clock, RefusesAtOnce: true,
		Quota: n.quota, QuotaStatus: 402, QuotaBody: `{"error":"quota used up"}`,
		Fails:      func(input string, attempt int) clienttest.Fault { return n.fault(time.Since(start), input, attempt) },
		Delay:      n.delay(),
		Down:       func() bool { return within(n.out, time.Since(start)) },
		DownStatus: map[outage]int{out503: 503, out502: 502, outHangs: clienttest.DownHangs, outRefused: clienttest.DownResets}[n.outKind],
	}
	if n.limit != nil {
		o.Limiter = n.limit(start)
	}
	return clienttest.New(o)
}

// delay gives the latency of each attempt: requests beyond the workers wait in a queue.
func (n *night) delay() func(input string, attempt, working int) time.Duration {
	var (
		mu   sync.Mutex
		free = make([]time.Time, n.workers) // when each worker is free
	)
	return func(input string, attempt, _ int) time.Duration {
		took, now := n.latency(input, attempt), time.Now()
		if n.workers == 0 {
			return took
		}
		mu.Lock()
		defer mu.Unlock()
		next := 0
		for i, at := range free {
			if at.Before(free[next]) {
				next = i
			}
		}
		if free[next].Before(now) {
			free[next] = now
		}
		free[next] = free[next].Add(took)
		return free[next].Sub(now)
	}
}

// play runs a night in a synctest bubble, with files in a folder.
func (n *night) play(t *testing.T, dir string) (o outcome) {
	start := time.Now()
	stops, whole := make([]time.Duration, len(n.stops)), n.ideal(start)
	for i, part := range n.stops {
		stops[i] = time.Duration(part * float64(whole))
	}
	o.ideal = n.ideal(start, stops...)
	server := n.service()
	pipe, closeServer := server.Pipe()
	defer closeServer()
	dial := func(ctx context.Context, network, address string) (net.Conn, error) {
		if n.outKind == outRefused && within(n.out, time.Since(start)) {
			return nil, syscall.ECONNREFUSED
		}
		return pipe(ctx, network, address)
	}
	if n.quota > 0 {
		renew := time.AfterFunc(n.renewed, func() { server.Refill(math.MaxInt32) })
		defer renew.Stop()
	}
	input, output := filepath.Join(dir, "in.txt"), filepath.Join(dir, "out.csv")
	if err := os.WriteFile(input, []byte(strings.Join(n.titles, "\n")+"\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	log := &outageCounter{out: &o.outages}
	bound, requests := n.most, int64(0)
	for i := 0; ; i++ {
		a, err := n.session(t, dial, input, output, stops[min(i, len(stops)):], bound, start, &o, slog.New(log))
		if visits := int64(len(server.Visits())); bound > 0 && visits > bound {
			o.fail("%d requests, of at most %d", visits, bound)
		}
		if a != nil {
			requests += a.Counts.Requests
		}
		var stop *pipeline.StopError
		switch {
		case err == nil:
		case errors.As(err, &stop) && stop.Cause == account.Interrupted && i < len(n.stops):
			continue
		case errors.As(err, &stop) && stop.Cause == account.Budget && bound > 0:
			if requests != bound {
				o.fail("stopped after %d of %d requests", requests, bound)
			}
			bound = 0
			continue
		default:
			o.fail("ended with %v", err)
		}
		break
	}
	o.took = time.Since(start)
	o.outages = max(0, o.outages-len(n.out)*(1+len(n.stops)))
	n.checkRows(output, server, &o)
	n.checkRequests(server, start, &o)
	return o
}

// session makes one start of the run with a bound of the requests.
func (n *night) session(t *testing.T, dial func(ctx context.Context, network, address string) (net.Conn, error), input, output string, stops []time.Duration, bound int64, start time.Time, o *outcome, log *slog.Logger) (a *account.Account, err error) {
	ctx, cancel := context.WithTimeoutCause(t.Context(), 20*o.ideal+10*time.Hour-time.Since(start), errors.New("the night does not end"))
	defer cancel()
	if len(stops) > 0 {
		stop := time.AfterFunc(stops[0], cancel)
		defer stop.Stop()
	}
	c, err := client.New(client.Options{BaseURL: "http://service", Dial: dial, Timeout: timeout, Connections: client.MaxConnections(limits.DefaultInFlight)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	session, err := pipeline.Open(ctx, pipeline.Options{
		Kind: client.Product, Service: pipeline.HostedService(c), Log: log,
		Limits: limits.Options{Rate: n.rate, MaxRequests: bound, MaxOutage: 6 * time.Hour, WaitForQuota: n.quota > 0},
		Input:  reader.Options{Paths: []string{input}}, Output: pipeline.OutputOptions{Path: output},
		Store: pipeline.StoreOptions{Path: filepath.Join(filepath.Dir(output), "answers.db")},
	})
	if err != nil {
		return nil, err
	}
	a, err = session.Run(ctx)
	if a != nil {
		o.rechecks += int(a.Counts.Rechecks)
	}
	return a, errors.Join(err, session.Close())
}

// outageCounter counts the outages that a log tells of.
type outageCounter struct {
	slog.Handler
	out *int
}

func (c *outageCounter) Enabled(_ context.Context, l slog.Level) bool { return l >= slog.LevelInfo }
func (c *outageCounter) Handle(_ context.Context, r slog.Record) error {
	if *verbose {
		fmt.Println(r.Time.Sub(time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)), r.Message)
	}
	if strings.HasPrefix(r.Message, "the service is out") {
		*c.out++
	}
	return nil
}

// checkRows wants the right rows of all records in order.
func (n *night) checkRows(output string, server *clienttest.Server, o *outcome) {
	file, err := os.Open(output)
	if err != nil {
		o.fail("no output: %v", err)
		return
	}
	defer file.Close()
	rows := csv.NewReader(file)
	header, err := rows.Read()
	if err != nil {
		o.fail("no header: %v", err)
		return
	}
	column := map[string]int{}
	for i, name := range header {
		column[name] = i
	}
	audit := server.Audit()
	records := 0
	for {
		row, err := rows.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			o.fail("%v", err)
			return
		}
		at := func(name string) string { return row[column[name]] }
		if at("record") != fmt.Sprint(records) {
			records++
		}
		if at("record") != fmt.Sprint(records) || records > len(n.titles) || at("input") != n.titles[records-1] {
			o.fail("record %s is %q after %d records", at("record"), at("input"), records)
			return
		}
		title, status := at("input"), at("status")
		isBroken := chance(n.seed, "broken", title, 0) < n.broken
		switch {
		case n.isMissing(title):
			if status != "rejected" {
				o.fail("%q is %s: %s", title, status, at("error"))
			}
		case status == "failed" && (isBroken || audit.Inputs[title].Attempts >= 8):
		case status == "ok" && (at("value") == clienttest.Value(title) || at("rank") == "2"):
		default:
			o.fail("%q is %s %s: %s", title, status, at("value"), at("error"))
		}
	}
	if records != len(n.titles) {
		o.fail("%d records of %d", records, len(n.titles))
	}
}

// checkRequests counts refused requests, and wants none that was paid for twice, and none above the rate.
func (n *night) checkRequests(server *clienttest.Server, start time.Time, o *outcome) {
	audit := server.Audit()
	if twice := audit.Twice(); twice > o.rechecks {
		o.fail("%d answers were paid for twice, beside %d to test the service", twice-o.rechecks, o.rechecks)
	}
	for _, v := range server.Visits() {
		if v.Arrived.Sub(start) > 30*time.Second {
			o.sent++
			if v.Refused {
				o.refused++
			}
		}
	}
	const long = 10 * time.Second
	if most := clienttest.Peak(audit.Arrivals, long); n.rate > 0 && float64(most) > math.Ceil(n.rate*long.Seconds())+1+float64(len(n.stops)) {
		o.fail("%d requests in %v at --rate %.3g", most, long, n.rate)
	}
}
