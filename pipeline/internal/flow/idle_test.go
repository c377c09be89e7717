package flow

import (
	"net/http"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// idleTransport counts how often its idle connections are closed.
type idleTransport struct {
	http.RoundTripper
	closed int
}

func (t *idleTransport) CloseIdleConnections() { t.closed++ }

// TestLimitedRunClosesIdleConnections has the client of the hosted service close its idle connections when the service
// refuses everything: a limiter of connections counts those as well.
func TestLimitedRunClosesIdleConnections(t *testing.T) {
	transport := new(idleTransport)
	c, err := client.New(client.Options{BaseURL: "http://service", Transport: transport})
	if err != nil {
		t.Fatal(err)
	}
	r := run{Parts: Parts{Attempter: c, CloseIdle: c.Close}.withDefaults()}
	r.Report(limits.Effect{State: limits.Limited})
	if transport.closed != 1 {
		t.Errorf("the idle connections were closed %d times", transport.closed)
	}
}
