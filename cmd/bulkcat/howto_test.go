//go:build unix

package main

import (
	"context"
	"encoding/pem"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

const howtoPage = "cmd/bulkcat/HOWTO.md"

// TestDocumentHowto runs the commands of each section of the page "How do I …", as TestDocumentCommands does, each in a
// folder of its own. Services that the sections name are reached in the ways that they describe.
func TestDocumentHowto(t *testing.T) {
	t.Parallel()
	hearHangups()
	var refused atomic.Bool
	service := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("query") == "mystery socks" && refused.CompareAndSwap(false, true) {
			w.WriteHeader(http.StatusUnprocessableEntity)
			return
		}
		unlimited().ServeHTTP(w, r)
	})
	secure := httptest.NewTLSServer(service)
	t.Cleanup(secure.Close)
	proxy := httptest.NewServer(&tunnels{t: t, to: secure.Listener.Addr().String()})
	t.Cleanup(proxy.Close)
	other := httptest.NewServer(&foreign{names: map[string]string{"website": "domain", "product": "title"}, inJSON: true, nested: true, key: testKey})
	t.Cleanup(other.Close)
	parent := newShell(t, service)
	parent.rename(
		"https://service.internal", secure.URL,
		"proxy.example.com:3128", proxy.Listener.Addr().String(), // service.example.com is known to it alone
		"https://other.example.com", other.URL,
		"127.0.0.1:9464", freeAddress(t))
	files := map[string]string{
		"company.pem": string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw})),
		"api-key":     testKey + "\n", "headers": "X-Team: hush\n",
	}
	for name, section := range sections(t) {
		t.Run(name, func(t *testing.T) {
			s := *parent
			s.T, s.folder, s.env = t, t.TempDir(), append(slices.Clone(parent.env), "XDG_STATE_HOME="+t.TempDir())
			s.addFiles("testdata/documents", "samples")
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(s.folder, name), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			for _, c := range consoleBlocks(section) {
				s.run(c)
			}
			for _, program := range regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(section, -1) {
				s.runGo(program[1])
			}
		})
	}
}

// sections are the texts of the page by topic.
func sections(t *testing.T) map[string]string {
	list := make(map[string]string)
	for _, section := range strings.Split(read(t, filepath.Join(repository, howtoPage)), "\n## ")[1:] {
		topic, text, ok := strings.Cut(section, ": ")
		if !ok || list[topic] != "" || !strings.Contains(text, "```") {
			t.Errorf("the section %q needs a topic of its own, and a command", topic)
		}
		list[topic] = text
	}
	if len(list) < 16 {
		t.Errorf("the page has %d topics", len(list))
	}
	return list
}

// runGo builds a program in Go and runs it, with the hosted service.
func (s *shell) runGo(text string) {
	s.Helper()
	source, program := filepath.Join(s.folder, "main.go"), filepath.Join(s.folder, "program")
	if err := os.WriteFile(source, []byte(text), 0o666); err != nil {
		s.Fatal(err)
	}
	build := exec.Command("go", "build", "-ldflags=-s -w", "-o", program, source)
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		s.Fatalf("%v\n%s", err, out)
	}
	s.run(consoleCommand{command: "export BULKCAT_BASE_URL=https://api.example.com BULKCAT_API_KEY=..."})
	s.run(consoleCommand{command: "./program", output: []string{"velvet sofa is ", "cordless drill is "}})
}

// tunnels is a proxy that leads all tunnels of USER to one address.
type tunnels struct {
	t  *testing.T
	to string
}

func (p *tunnels) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodConnect || r.Host != "service.example.com:443" || r.Header.Get("Proxy-Authorization") != "Basic VVNFUjpQQVNTV09SRA==" { // USER:PASSWORD
		w.WriteHeader(http.StatusProxyAuthRequired)
		return
	}
	to, err := net.Dial("tcp", p.to)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer to.Close()
	w.WriteHeader(http.StatusOK)
	from, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		p.t.Error(err)
		return
	}
	defer from.Close()
	stop := context.AfterFunc(p.t.Context(), func() { from.Close() })
	defer stop()
	go func() {
		defer to.Close()
		io.Copy(to, buffered) // ends with the connection
	}()
	io.Copy(from, to)
}

// TestHelpTopics wants each section as a topic that no command is named like, without Markdown.
func TestHelpTopics(t *testing.T) {
	root := newRoot(streams{})
	help := newHelp()
	if got, want := len(help.Commands()), len(sections(t)); got != want {
		t.Errorf("%d topics, want %d", got, want)
	}
	for _, topic := range help.Commands() {
		if cmd, _, err := root.Find([]string{topic.Name()}); err == nil {
			t.Errorf("%s is also the command %s", topic.Name(), cmd.CommandPath())
		}
		for _, mark := range []string{"```", "](", "**", "`"} {
			if strings.Contains(topic.Long, mark) {
				t.Errorf("%s has %q:\n%s", topic.Name(), mark, topic.Long)
			}
		}
	}
}

// TestHowtoNames holds the names in the sections docker and systemd against the Dockerfile and the unit.
func TestHowtoNames(t *testing.T) {
	text := sections(t)
	const dockerfile = "scripts/kubernetes/Dockerfile"
	unit, image := read(t, schedulers+"/bulkcat.service"), read(t, filepath.Join(repository, dockerfile))
	for _, path := range regexp.MustCompile("/etc/bulkcat/[a-z.-]+[a-z]").FindAllString(text["systemd"], -1) {
		if !strings.Contains(unit, path) {
			t.Errorf("bulkcat.service does not name %s", path)
		}
	}
	for _, text := range []struct{ in, text string }{
		{text["docker"], "docker build bin -f " + dockerfile + " -t bulkcat/bulkcat:"}, {text["docker"], `$PWD:/work"`}, {image, "WORKDIR /work\n"},
		{image, "COPY bulkcat "}, {image, `ENTRYPOINT ["bulkcat"]`},
	} {
		if !strings.Contains(text.in, text.text) {
			t.Errorf("there is no %q in\n%s", text.text, text.in)
		}
	}
}
