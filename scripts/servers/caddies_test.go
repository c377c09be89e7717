package servers

import (
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// caddies are cases with Caddy as the proxy, and a limit of the service's own.
func caddies() []scenario {
	return []scenario{
		{"L1 Caddy", false, of(behindCaddy(func(p plan) plan { return p }))},
		{"L2 Caddy reloaded every 5 s", false, of(behindCaddy(func(p plan) plan {
			p.during = func(s *stage, stop <-chan struct{}) error {
				return s.every(5*time.Second, stop, s.caddy.Reload)
			}
			return p
		}))},
		{"L3 Caddy, the service dead for 10 s", false, of(behindCaddy(func(p plan) plan {
			return dead(p, 10*time.Second)
		}))},
	}
}

func behindCaddy(change func(plan) plan) plan {
	options := ordinary
	options.Limiter, options.RefusesAtOnce = &clienttest.Bucket{Rate: perSecond, Burst: 30}, true
	p := direct(records, options, 0)
	p.ideal = idealOf(records, perSecond)
	p.atMost, p.refused = patient(p.ideal), 0.02
	p.front = func(t *testing.T, s *stage) (string, string) {
		s.caddy = startCaddy(t, builtCaddy(t), t.TempDir(), s.service.Addr, s.tls)
		return s.caddy.URL(), s.tls.CA
	}
	return change(p)
}

// buildCaddy builds once, into a folder that testMain removes.
var buildCaddy = sync.OnceValues(func() (string, error) {
	return process.Build("", builds, ".", "github.com/caddyserver/caddy/v2/cmd/caddy")
})

func builtCaddy(t *testing.T) string {
	t.Helper()
	path, err := buildCaddy()
	if err != nil {
		t.Fatal(err)
	}
	return path
}
