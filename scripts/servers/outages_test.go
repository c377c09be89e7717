package servers

import (
	"strings"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// maxOutage is what bulkcat gets as --max-outage.
const maxOutage = 40 * time.Second

// out is a plan in which nothing is ever answered. bulkcat must say so once within 30
// seconds, and stop.
func out(status int) plan {
	options := clienttest.Options{Down: func() bool { return true }, DownStatus: status}
	p := direct(2000, options, maxOutage+20*time.Second)
	p.flags = []string{"--max-outage", maxOutage.String()}
	p.warnings, p.exit, p.unpublished = 1, 75, true
	return p
}

func outages() []scenario {
	refused := out(0)
	refused.front = func(t *testing.T, _ *stage) (string, string) { return "http://" + run.FreeAddr(t), "" }
	return []scenario{
		{"I1 every answer is 429", false, saysSo(out(429))},
		{"I2 every answer is 204", false, saysSo(out(204))},
		{"I3 every answer is 503", false, saysSo(out(503))},
		{"I4 every connection is refused", false, saysSo(refused)},
	}
}

// saysSo performs the plan, and expects exactly one warning, about the service being out.
func saysSo(p plan) func(*testing.T, *line) {
	return func(t *testing.T, row *line) {
		o := perform(t, row, p)
		if len(o.Warnings) != 1 {
			t.Errorf("%d warnings, not exactly one", len(o.Warnings))
			return
		}
		warning := o.Warnings[0]
		if !strings.Contains(warning.Message, "the service is out") {
			t.Errorf("the warning is %q, not about the service being out", warning.Message)
		}
		if after := warning.Time.Sub(o.Started); after > 30*time.Second {
			t.Errorf("the warning came after %v, at most 30s", after)
		}
	}
}
