// Package network puts toxiproxy between bulkcat and a server. toxiproxy runs in the test
// process.
package network

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	toxiproxy "github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// Proxy is a TCP proxy whose connections can be disturbed.
type Proxy struct {
	Addr string // HOST:PORT

	proxy *toxiproxy.Proxy
}

// Toxic is toxiproxy's description of a disturbance of the data towards bulkcat: see the toxics in the README of toxiproxy.
type Toxic struct {
	Name       string           `json:"name,omitempty"`
	Type       string           `json:"type"`     // such as reset_peer
	Toxicity   float64          `json:"toxicity"` // the share of connections that are disturbed
	Attributes map[string]int64 `json:"attributes"`
}

// Start proxies a free port to the upstream HOST:PORT until the test ends.
func Start(t testing.TB, upstream string) *Proxy {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "bulkcat", "127.0.0.1:0", upstream)
	if err := proxy.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(proxy.Stop)
	return &Proxy{Addr: proxy.Listen, proxy: proxy}
}

// Add disturbs connections from now on. It is drawn for each connection, including open connections, whether it is disturbed.
func (p *Proxy) Add(toxic Toxic) error {
	content, err := json.Marshal(toxic)
	if err != nil {
		return err
	}
	_, err = p.proxy.Toxics.AddToxicJson(strings.NewReader(string(content)))
	return err
}

// Remove ends the disturbance. A silent connection is closed.
func (p *Proxy) Remove(name string) error {
	return p.proxy.Toxics.RemoveToxic(context.Background(), name)
}
