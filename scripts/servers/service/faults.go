package service

import (
	"hash/fnv"
	"io"
	"net"
	"net/http"
)

// Always is the number of failures of an input that never gets an answer.
const Always = 1 << 30

// A fault answers wrongly and returns the status; 0 for none.
type fault func(http.ResponseWriter) int

// faults are typical transient failures of services.
var faults = []fault{
	func(w http.ResponseWriter) int { return fail(w, http.StatusInternalServerError) },
	func(w http.ResponseWriter) int { return fail(w, http.StatusServiceUnavailable) },
	reset,
	page,
}

// fault returns the fault of an input's attempt, which counts from 1; nil for a sound answer.
// The first fault of an input depends on the input, and its later attempts get the next ones.
func (o Options) fault(input string, attempt int) fault {
	if o.Errors != nil && o.Errors(input) {
		return faults[0]
	}
	if o.Fails == nil || attempt > o.Fails(input) {
		return nil
	}
	return faults[(int(hash(input)%4)+attempt)%len(faults)]
}

func fail(w http.ResponseWriter, status int) int {
	http.Error(w, `{"error":"try again"}`, status)
	return status
}

// page is an HTML page with the status 200, as from a failing gateway.
func page(w http.ResponseWriter) int {
	w.Header().Set("Content-Type", "text/html")
	_, _ = io.WriteString(w, "<html><body><h1>We will be back soon</h1></body></html>")
	return PageStatus
}

// PageStatus stands in the audit for an HTML page with the status 200.
const PageStatus = -http.StatusOK

// reset closes the connection with a TCP reset.
func reset(w http.ResponseWriter) int {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fail(w, http.StatusInternalServerError)
	}
	if tcp, ok := conn.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = conn.Close()
	return 0
}

// Times is for Options.Fails: a share of all inputs fails its first n requests.
func Times(share float64, n int) func(string) int {
	return func(input string) int {
		if float64(hash(input)>>8%10_000) < share*10_000 {
			return n
		}
		return 0
	}
}

func hash(input string) uint32 {
	h := fnv.New32a()
	_, _ = io.WriteString(h, input)
	return h.Sum32()
}
