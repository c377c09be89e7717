package servers

import (
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/scripts/servers/network"
)

// networks are cases with toxiproxy next to bulkcat. Nothing may be lost, and no answer may
// be asked for again that can have arrived.
func networks() []scenario {
	return []scenario{
		{"F1 2% of the transfers reset", false, of(resets(3000))},
		{"F1s 2% of the transfers reset, 1,000 records", true, of(resets(1000))},
		{"F2 200 ms jitter, HTTP2", false, of(slow(network.Toxic{
			Type: "latency", Toxicity: 1, Attributes: map[string]int64{"latency": 200, "jitter": 200},
		}))},
		{"F3 64 KB a second, HTTP2", false, of(slow(network.Toxic{
			Type: "bandwidth", Toxicity: 1, Attributes: map[string]int64{"rate": 64},
		}))},
		{"F4 connections go silent, HTTP1", false, of(silent())},
		{"F5 the network is silent for 6 s, HTTP2", false, of(blackout())},
	}
}

// through puts the toxic between bulkcat and the server that the plan has.
func through(p plan, toxics ...network.Toxic) plan {
	p.front = func(t *testing.T, s *stage) (string, string) {
		scheme, upstream, caFile := "http://", s.service.Addr, ""
		if s.nginx != nil {
			scheme, upstream, caFile = "https://", s.nginx.Addr, s.tls.CA
		}
		s.network = network.Start(t, upstream)
		for _, toxic := range toxics {
			if err := s.network.Add(toxic); err != nil {
				t.Fatal(err)
			}
		}
		return scheme + s.network.Addr, caFile
	}
	return p
}

// resets is a service that closes a connection after 5 answers. toxiproxy resets one
// connection in 10 at the first answer, which is lost: about 2% of all answers.
func resets(records int) plan {
	options := ordinary
	options.CloseEvery = 5
	p := direct(records, options, 30*time.Second)
	p.lost = lastOnConnection
	return through(p, network.Toxic{Type: "reset_peer", Toxicity: 0.1})
}

// slow is nginx behind a slow network. nginx keeps the connection: toxiproxy would drop what
// it still holds back when nginx closes.
func slow(toxic network.Toxic) plan {
	p := direct(2000, ordinary, time.Minute)
	p.nginx = &nginxConfig{HTTP2: true, Server: "keepalive_requests 100000;"}
	return through(p, toxic)
}

const silence = "silence"

// silent lets one connection in 5 go silent for 8 seconds, open ones and new ones, while
// bulkcat asks at a rate that lasts longer than that.
func silent() plan {
	p := direct(records, ordinary, 90*time.Second)
	p.flags = []string{"--timeout", "3s", "--rate", "300/s"}
	p.lost = lastOnConnection
	p.during = func(s *stage, stop <-chan struct{}) error {
		if !s.at(2*time.Second, stop) {
			return nil
		}
		if err := s.network.Add(timeout(0.2)); err != nil || !s.at(10*time.Second, stop) {
			return err
		}
		return s.network.Remove(silence)
	}
	return through(p)
}

// blackout lets all connections go silent for 6 seconds.
func blackout() plan {
	p := direct(records, ordinary, time.Minute)
	p.nginx = &nginxConfig{HTTP2: true}
	p.flags = []string{"--timeout", "3s", "--rate", "300/s"}
	p.lost = duringCuts
	p.during = func(s *stage, stop <-chan struct{}) error {
		if !s.at(3*time.Second, stop) {
			return nil
		}
		down := func() error { return s.network.Add(timeout(1)) }
		return s.cut(down, 6*time.Second, func() error { return s.network.Remove(silence) })
	}
	return through(p)
}

// timeout drops all data towards bulkcat, and keeps the connection open.
func timeout(toxicity float64) network.Toxic {
	return network.Toxic{
		Name: silence, Type: "timeout", Toxicity: toxicity, Attributes: map[string]int64{"timeout": 0},
	}
}
