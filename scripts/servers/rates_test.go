package servers

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/scripts/servers/run"
)

// The forms of nginx's Retry-After.
const (
	inSeconds = "add_header Retry-After 1 always;"
	asDate    = "error_page 429 = @refusal;"
	never     = ""
)

// rates are cases with --rate: the promise of at most so many requests a second holds, and
// 95% of the smaller of --rate and the limit are used.
func rates() []scenario {
	nodelay := func(burst int) string {
		return fmt.Sprintf("limit_req_status 429; limit_req zone=keys burst=%d nodelay;", burst)
	}
	served := promised(1000, 50, 50, "")
	served.prefix = "football-news-"
	served.nginx.HTTP = ""
	served.upstream = serve
	return []scenario{
		{"C1 --rate 0.8 of the limit, burst 30, seconds", false, kept(promised(records, 240, 300, nodelay(30)+inSeconds), 240, 300)},
		{"C2 --rate 0.8 of the limit, burst 1, date", false, kept(promised(records, 240, 300, nodelay(1)+asDate), 240, 300)},
		{"C3 --rate equals the limit, burst 1, seconds", false, kept(promised(records, 300, 300, nodelay(1)+inSeconds), 300, 300)},
		{"C4 --rate equals the limit, burst 30, absent", false, kept(promised(records, 300, 300, nodelay(30)+never), 300, 300)},
		{"C5 --rate 1.5 of the limit, burst 1, absent", false, kept(promised(records, 450, 300, nodelay(1)+never), 450, 300)},
		{"C6 --rate 1.5 of the limit, burst 30, date", false, kept(promised(records, 450, 300, nodelay(30)+asDate), 450, 300)},
		{"C7 --rate 3 times the limit, burst 30, seconds", false, kept(promised(records, 900, 300, nodelay(30)+inSeconds), 900, 300)},
		{"C8 --rate 3 times the limit, burst 1, date", false, kept(promised(records, 900, 300, nodelay(1)+asDate), 900, 300)},
		{"C9 --rate 50, limit 50, burst 1, seconds", false, kept(promised(1000, 50, 50, nodelay(1)+inSeconds), 50, 50)},
		{"C10 --rate 50, bulkcat serve with rate=50 burst=1", false, kept(served, 50, 50)},
	}
}

func promised(records, perSecond, limit int, location string) plan {
	ideal := idealOf(records, float64(min(perSecond, limit)))
	return plan{
		records: records, service: ordinary,
		nginx: &nginxConfig{
			HTTP2: true, HTTP: zone(limit), Location: location,
			Server: fmt.Sprintf("location @refusal { rewrite ^ %s break; proxy_pass http://service; }", clienttest.RefusalPath),
		},
		flags: []string{"--rate", fmt.Sprintf("%d/s", perSecond)},
		ideal: ideal, atMost: patient(ideal), warnings: 3,
	}
}

// kept performs the plan, and compares the arrivals with the promise of --rate.
func kept(p plan, perSecond, limit int) func(*testing.T, *line) {
	return func(t *testing.T, row *line) {
		o := perform(t, row, p)
		if len(o.arrivals) < 2 {
			t.Fatal("nothing has arrived")
		}
		from, to := o.arrivals[0].at, o.arrivals[len(o.arrivals)-1].at
		used := float64(p.records) / to.Sub(from).Seconds()
		least := 0.95 * float64(min(perSecond, limit))
		if used < least {
			t.Errorf("%.1f records a second, at least %.1f", used, least)
		}
		most := fullestSecond(o.arrivals)
		if most > perSecond+1 {
			t.Errorf("%d requests within a second, at most %d", most, perSecond+1)
		}
		t.Logf("%.1f records a second; %d requests in the fullest second", used, most)
		answered := map[string]int{}
		for _, a := range o.arrivals {
			if a.status == 200 {
				if answered[a.input]++; answered[a.input] == 2 {
					t.Errorf("%s was answered twice", a.input)
				}
			}
		}
	}
}

// clockError is the largest error of times in the access log: nginx reads the clock once for all
// requests of an iteration of its event loop.
const clockError = 5 * time.Millisecond

// fullestSecond returns the most requests that arrived within a second, wherever it begins.
func fullestSecond(all []arrival) int {
	times := make([]time.Time, len(all))
	for i, a := range all {
		times[i] = a.at
	}
	return clienttest.Peak(times, time.Second-clockError)
}

// serve runs bulkcat serve until the test ends.
func serve(t *testing.T, s *stage) string {
	t.Helper()
	keys := filepath.Join(s.dir, "keys.txt")
	if err := os.WriteFile(keys, []byte(run.Key+" rate=50/s burst=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	addr := run.FreeAddr(t)
	cmd := exec.Command(binary, "serve", "--api-key-file", keys, "--addr", addr, "--fetch", "never", "--quiet")
	cmd.Dir = s.dir
	run.Serve(t, cmd, addr)
	return addr
}
