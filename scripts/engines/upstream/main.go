// Command upstream is a Categorization Service that counts what it is asked, for the tests with Spark and Slurm.
//
//	upstream -addr 127.0.0.1:9000 -latency 50ms
//
// GET /audit gives the number of requests, of distinct inputs and of repeated requests, and the largest
// number of requests that arrived within one second.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/scripts/bench/service"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:9000", "listen on HOST:PORT")
	latency := flag.Duration("latency", 50*time.Millisecond, "of an answer")
	flag.Parse()
	u := &upstream{latency: *latency, asked: map[string]int{}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /audit", u.audit)
	mux.HandleFunc("GET /api/usage", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(service.Usage)) })
	mux.HandleFunc("GET /api/v1/website/categorization", u.categorize("url"))
	mux.HandleFunc("GET /api/v1/product/categorization", u.categorize("query"))
	fmt.Fprintln(os.Stderr, "upstream:", http.ListenAndServe(*addr, mux))
	os.Exit(1)
}

type upstream struct {
	latency time.Duration

	mu       sync.Mutex
	asked    map[string]int // requests, by classification and input
	arrivals []time.Time
}

// categorize answers requests whose input is in a parameter.
func (u *upstream) categorize(parameter string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		query := r.URL.Query()
		classification, input := query.Get("classification"), query.Get(parameter)
		u.mu.Lock()
		u.asked[classification+"\x00"+input]++
		u.arrivals = append(u.arrivals, time.Now())
		u.mu.Unlock()
		time.Sleep(u.latency)
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(service.AppendAnswer(nil, classification, input)) // fails if the client has gone
	}
}

func (u *upstream) audit(w http.ResponseWriter, _ *http.Request) {
	u.mu.Lock()
	defer u.mu.Unlock()
	peak, from := 0, 0
	for i, at := range u.arrivals {
		for at.Sub(u.arrivals[from]) >= time.Second {
			from++
		}
		peak = max(peak, i-from+1)
	}
	requests := len(u.arrivals)
	_ = json.NewEncoder(w).Encode(map[string]int{
		"requests": requests, "inputs": len(u.asked), "repeated": requests - len(u.asked), "peak": peak,
	})
}
