package nginx

import (
	"bufio"
	"fmt"
	"math"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// Request is one request for a categorization, as the access log has it.
type Request struct {
	Arrived time.Time // when nginx read the request, by nginx's clock of milliseconds
	Ended   time.Time
	Status  int
	Input   string
}

// Requests reads the access log. The requests are in the order of their arrival.
func (s *Server) Requests(t testing.TB) []Request {
	t.Helper()
	file, err := os.Open(filepath.Join(s.dir, "access.log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var requests []Request
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		request, err := parse(lines.Text())
		if err != nil {
			t.Fatalf("access.log: %v", err)
		}
		if request.Input != "" {
			requests = append(requests, request)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatal(err)
	}
	slices.SortStableFunc(requests, func(a, b Request) int { return a.Arrived.Compare(b.Arrived) })
	return requests
}

// parse parses a line of the log format arrivals. A request without an input is not for a
// categorization.
func parse(line string) (Request, error) {
	var request Request
	var ended, took float64
	var uri string
	if _, err := fmt.Sscan(line, &ended, &took, &request.Status, &uri); err != nil {
		return request, fmt.Errorf("%q: %w", line, err)
	}
	request.Ended, request.Arrived = at(ended), at(ended-took)
	_, query, _ := strings.Cut(uri, "?")
	values, err := url.ParseQuery(query)
	if err != nil {
		return request, fmt.Errorf("%q: %w", line, err)
	}
	request.Input = values.Get("url")
	return request, nil
}

// at converts nginx's seconds since 1970 to a time.
func at(seconds float64) time.Time {
	return time.UnixMilli(int64(math.Round(seconds * 1000)))
}
