package gateway

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/money"
)

// The metrics say which key waits, and since when; how long the upstream takes; and what stored answers save.
func TestMetricsOfWaitsAndSavings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRig(clienttest.Options{Latency: 4 * time.Second}, "a name=alice\nb name=bob\n")
		half, err := money.Parse("0.5")
		if err != nil {
			t.Fatal(err)
		}
		r.options.Price = money.Price{Request: half, Currency: "EUR"}
		r.run(t, func() {
			check := func(when string, lines ...string) {
				t.Helper()
				page := r.page(embedded.MetricsPath)
				for _, line := range lines {
					if name, absent := strings.CutPrefix(line, "no "); absent == strings.Contains(page, name) {
						t.Errorf("%s: %q in\n%s", when, line, page)
					}
				}
			}
			answered := make(chan response)
			go func() { answered <- r.ask("a", "oak table") }()
			time.Sleep(3 * time.Second)
			check("during a request", `bulkcat_gateway_key_waiting_requests{key="alice"} 1`, `bulkcat_gateway_key_wait_seconds{key="alice"} 3`,
				`no bulkcat_gateway_key_waiting_requests{key="bob"}`)
			<-answered
			r.ask("b", "oak table")
			check("afterwards", `no bulkcat_gateway_key_waiting_requests{`, `bulkcat_gateway_upstream_duration_seconds_sum 4`, `bulkcat_gateway_upstream_duration_seconds_count 1`,
				`bulkcat_gateway_upstream_cost_total{currency="EUR"} 0.5`, `bulkcat_gateway_upstream_saved_total{currency="EUR"} 0.5`)
		})
	})
}
