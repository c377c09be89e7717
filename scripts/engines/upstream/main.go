// Command upstream is a Categorization Service that counts its requests, for the tests with Spark and Slurm.
//
//	upstream -addr 127.0.0.1:9000 -latency 50ms
//
// GET /audit returns the number of requests, of distinct inputs and of repeated requests, and the largest
// number of requests that arrived within one second.
package main

import (
	"encoding/json"
	"flag"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
)

func main() {
	addr := flag.String("addr", "127.0.0.1:9000", "listen on HOST:PORT")
	latency := flag.Duration("latency", 50*time.Millisecond, "of an answer")
	flag.Parse()
	service := clienttest.New(clienttest.Options{Latency: *latency, Answer: clienttest.AppendTypical})
	mux := http.NewServeMux()
	mux.Handle("/api/", service)
	mux.HandleFunc("GET /audit", func(w http.ResponseWriter, _ *http.Request) {
		_ = json.NewEncoder(w).Encode(audit(service)) // fails if the client has gone
	})
	fmt.Fprintln(os.Stderr, "upstream:", http.ListenAndServe(*addr, mux))
	os.Exit(1)
}

func audit(service *clienttest.Server) map[string]int {
	distinct, arrivals := map[[2]string]bool{}, []time.Time{}
	for _, visit := range service.Visits() {
		distinct[[2]string{visit.Classification, visit.Input}] = true
		arrivals = append(arrivals, visit.Arrived)
	}
	return map[string]int{
		"requests": len(arrivals), "inputs": len(distinct), "repeated": len(arrivals) - len(distinct),
		"peak": clienttest.Peak(arrivals, time.Second),
	}
}
