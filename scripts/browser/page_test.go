package browser

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"

	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/scripts/process"
)

var (
	bulkcat = flag.String("bulkcat", "../../bin/bulkcat", "the program")
	axeFile = flag.String("axe", "", "axe.min.js of axe-core; empty to leave the accessibility check out")
	shots   = flag.String("shots", "", "folder for screenshots; empty for none")
)

// browser is a Chromium that notes all errors and all requests.
type browser struct {
	context.Context
	mu       sync.Mutex
	errors   []string
	requests []string
}

func open(t *testing.T) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.NoSandbox)
	allocated, release := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(release)
	ctx, leave := chromedp.NewContext(allocated)
	t.Cleanup(leave)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	t.Cleanup(cancel)
	b := &browser{Context: ctx}
	chromedp.ListenTarget(ctx, func(event any) {
		b.mu.Lock()
		defer b.mu.Unlock()
		switch e := event.(type) {
		case *network.EventRequestWillBeSent:
			b.requests = append(b.requests, e.Request.URL)
		case *runtime.EventExceptionThrown:
			b.errors = append(b.errors, e.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError {
				b.errors = append(b.errors, fmt.Sprintf("console: %v", e.Args))
			}
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError {
				b.errors = append(b.errors, e.Entry.Text+" "+e.Entry.URL)
			}
		}
	})
	b.do(t, network.Enable(), log.Enable())
	return b
}

func (b *browser) do(t *testing.T, actions ...chromedp.Action) {
	t.Helper()
	if err := chromedp.Run(b, actions...); err != nil {
		t.Fatal(err)
	}
}

// noted returns the errors and requests so far.
func (b *browser) noted() (errors, requests []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]string(nil), b.errors...), append([]string(nil), b.requests...)
}

func (b *browser) text(t *testing.T, selector string) (text string) {
	t.Helper()
	b.do(t, chromedp.Text(selector, &text, chromedp.ByQuery))
	return text
}

// until waits until a JavaScript expression is true.
func (b *browser) until(t *testing.T, expression string) {
	t.Helper()
	b.do(t, chromedp.Poll(expression, nil, chromedp.WithPollingTimeout(time.Minute)))
}

// faultyService limits, fails and rejects, and is slow enough to be watched.
func faultyService(t *testing.T) string {
	t.Helper()
	server := clienttest.New(clienttest.Options{
		Key: "key-1", Seed: 1, Latency: 30 * time.Millisecond, Jitter: 60 * time.Millisecond,
		Limiter: &clienttest.Bucket{Rate: 60, Burst: 10}, Refusal: clienttest.Refusal{Style: clienttest.Seconds},
		Faults: map[clienttest.Fault]float64{clienttest.Error500: 0.03}, Missing: 0.02, Quota: 5000, QuotaStatus: http.StatusPaymentRequired,
	})
	url, stop := server.Listen()
	t.Cleanup(stop)
	return url
}

// run is a bulkcat in a folder.
type run struct {
	*process.Process
	url string // of the page
}

var shown = regexp.MustCompile(`the run is shown at (http://[^ \n]+)`)

func start(t *testing.T, folder, service, listen string) *run {
	t.Helper()
	cmd := exec.Command(*bulkcat, "website", "in.txt", "-o", "out.csv", "--listen", listen)
	cmd.Dir = folder
	cmd.Env = append(os.Environ(), "BULKCAT_BASE_URL="+service, "BULKCAT_API_KEY=key-1")
	p, err := process.Start(t.Context(), cmd, filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	match, err := p.AwaitLog(shown)
	if err != nil {
		t.Fatal(err)
	}
	return &run{p, match[1]}
}

func input(t *testing.T, records int) (folder string) {
	t.Helper()
	folder = t.TempDir()
	list := new(strings.Builder)
	list.WriteString("not a website\n<script>alert(1)</script>\n")
	for i := range records {
		fmt.Fprintf(list, "site-%d.example.com\n", i)
	}
	if err := os.WriteFile(filepath.Join(folder, "in.txt"), []byte(list.String()), 0o600); err != nil {
		t.Fatal(err)
	}
	return folder
}

// digits is the first whole number of a text with grouped digits.
func digits(text string) string {
	text = strings.ReplaceAll(text, ",", "")
	return regexp.MustCompile(`[0-9]+`).FindString(text)
}

func (b *browser) figure(t *testing.T, name string) string {
	t.Helper()
	var text string
	b.do(t, chromedp.Evaluate(fmt.Sprintf(`[...document.querySelectorAll("dl div")].find(d => d.querySelector("dt").textContent === %q)?.querySelector("dd").firstChild.textContent ?? ""`, name), &text))
	return digits(text)
}

// TestPageOfARun watches a run that is killed and started again, until its end.
func TestPageOfARun(t *testing.T) {
	service, folder := faultyService(t), input(t, 1200)
	first := start(t, folder, service, "127.0.0.1:0")
	b := open(t)
	b.do(t, chromedp.Navigate(first.url))
	b.until(t, `document.querySelectorAll("#charts path").length >= 4`)
	if state := b.text(t, "#state"); !strings.Contains(state, "since") {
		t.Errorf("the state is %q", state)
	}
	b.until(t, `document.getElementById("tables").textContent.includes("<script>alert(1)</script>")`) // a failed record

	// The figures of the page are those of /status.json. The run goes on, so the page is between two reads.
	low, page, high := requests(t, first.url), b.figure(t, "Requests"), ""
	b.until(t, `true`)
	high = requests(t, first.url)
	if atoi(t, page)+120 < atoi(t, low) || atoi(t, page) > atoi(t, high) {
		t.Errorf("the page has %s requests, /status.json %s to %s", page, low, high)
	}

	// The process dies: the page says so, and goes on when the run is started again.
	first.Kill()
	b.until(t, `!document.getElementById("connection").hidden`)
	if text := b.text(t, "#connection"); !strings.Contains(text, "Connection lost") {
		t.Errorf("after the kill the page says %q", text)
	}
	lost, _ := b.noted()
	second := start(t, folder, service, strings.TrimSuffix(strings.TrimPrefix(first.url, "http://"), "/"))
	b.until(t, `document.getElementById("connection").hidden`)
	if text := b.text(t, "#tables"); !strings.Contains(text, "killed") {
		t.Error("the page does not list the killed start")
	}
	b.until(t, `document.getElementById("state").textContent.includes("the run has ended")`)
	if got := second.Status(); got != 3 {
		t.Errorf("exit status %d, want 3", got)
	}

	// The figures at the end are those of the account and of verify.
	account, err := runfiles.ReadAccount(t.Context(), runfiles.AccountPath(filepath.Join(folder, "out.csv")))
	if err != nil {
		t.Fatal(err)
	}
	counts := account.Counts
	var done int64
	b.do(t, chromedp.Evaluate(`document.querySelector("progress").value`, &done))
	if done != counts.Read {
		t.Errorf("the page has %d records, the account %d", done, counts.Read)
	}
	for name, want := range map[string]int64{"Requests": counts.Requests, "Without an answer": counts.Unanswered()} {
		if got := b.figure(t, name); got != fmt.Sprint(want) {
			t.Errorf("%s: the page has %s, the account %d", name, got, want)
		}
	}
	verify := exec.CommandContext(t.Context(), *bulkcat, "verify", "out.csv", "--json")
	verify.Dir = folder
	report, err := verify.Output()
	if err != nil {
		t.Errorf("verify: %v", err)
	}
	var checked struct{ Records int64 }
	if err := json.Unmarshal(report, &checked); err != nil {
		t.Fatalf("verify --json: %v: %s", err, report)
	}
	if checked.Records != counts.Read {
		t.Errorf("verify counts %d records, the page %d", checked.Records, counts.Read)
	}

	errors, all := b.noted()
	for _, e := range errors {
		if !strings.Contains(e, "ERR_CONNECTION") && !strings.Contains(e, "ERR_INCOMPLETE") && !strings.Contains(e, "ERR_EMPTY") {
			t.Errorf("console: %s", e)
		}
	}
	if len(lost) > 3 {
		t.Errorf("errors before the kill: %v", lost)
	}
	for _, url := range all {
		if !strings.HasPrefix(url, first.url) && !strings.HasPrefix(url, "data:") {
			t.Errorf("the page asked for %s", url)
		}
	}
}

func requests(t *testing.T, page string) string {
	t.Helper()
	response, err := http.Get(page + "status.json")
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var status struct{ Requests json.Number }
	if err := json.NewDecoder(response.Body).Decode(&status); err != nil {
		t.Fatal(err)
	}
	return status.Requests.String()
}

func atoi(t *testing.T, text string) (n int64) {
	t.Helper()
	if _, err := fmt.Sscan(text, &n); err != nil {
		t.Fatalf("%q is no number", text)
	}
	return n
}

// checkLooks checks the document that is open, and saves a screenshot.
func checkLooks(t *testing.T, b *browser, name string, width int64) {
	t.Helper()
	var overflow int64
	b.do(t, chromedp.Evaluate(`document.documentElement.scrollWidth`, &overflow))
	if overflow > width {
		t.Errorf("the page is %d pixels wide on a screen of %d", overflow, width)
	}
	if *shots != "" {
		var shot []byte
		b.do(t, chromedp.FullScreenshot(&shot, 100))
		small, err := withPalette(shot)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(*shots, name), small, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if *axeFile == "" {
		t.Skip("no axe-core: name axe.min.js with -axe")
	}
	axe, err := os.ReadFile(*axeFile)
	if err != nil {
		t.Fatal(err)
	}
	var findings []struct {
		ID, Impact, Help string
		Nodes            []struct{ HTML string }
	}
	b.do(t, chromedp.Evaluate(string(axe)+";0", nil),
		chromedp.Evaluate(`axe.run().then(r => r.violations)`, &findings, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
			return p.WithAwaitPromise(true)
		}))
	for _, f := range findings {
		if f.Impact == "serious" || f.Impact == "critical" {
			t.Errorf("axe-core: %s (%s): %s: %.300v", f.ID, f.Impact, f.Help, f.Nodes)
		}
	}
}

// withPalette encodes a PNG with 256 colors, which makes it a third of the size: those that are frequent, or unlike the others.
func withPalette(shot []byte) ([]byte, error) {
	from, err := png.Decode(bytes.NewReader(shot))
	if err != nil {
		return nil, err
	}
	counts, size := make(map[color.Color]int), from.Bounds()
	for y := range size.Dy() {
		for x := range size.Dx() {
			counts[from.At(x, y)]++
		}
	}
	colors := slices.SortedFunc(maps.Keys(counts), func(a, b color.Color) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	var palette color.Palette
	for _, c := range colors {
		if len(palette) < 64 || len(palette) < 256 && distance(c, palette.Convert(c)) > 12 {
			palette = append(palette, c)
		}
	}
	index := make(map[color.Color]uint8)
	for _, c := range colors {
		index[c] = uint8(palette.Index(c))
	}
	to := image.NewPaletted(size, palette)
	for y := range size.Dy() {
		for x := range size.Dx() {
			to.SetColorIndex(x, y, index[from.At(x, y)])
		}
	}
	var small bytes.Buffer
	err = (&png.Encoder{CompressionLevel: png.BestCompression}).Encode(&small, to)
	return small.Bytes(), err
}

// distance is the largest difference of two colors in red, green and blue, from 0 to 255.
func distance(a, b color.Color) (most int) {
	r, g, b1, _ := a.RGBA()
	r2, g2, b2, _ := b.RGBA()
	for _, d := range []int{int(r) - int(r2), int(g) - int(g2), int(b1) - int(b2)} {
		most = max(most, d>>8, -d>>8)
	}
	return most
}

// checkKeyboard opens the settings with the keyboard alone.
func checkKeyboard(t *testing.T, b *browser) {
	t.Helper()
	b.do(t, chromedp.Evaluate(`document.activeElement.blur()`, nil))
	for range 20 {
		b.do(t, chromedp.KeyEvent("\t"))
		var at string
		b.do(t, chromedp.Evaluate(`document.activeElement.tagName`, &at))
		if at == "SUMMARY" {
			b.do(t, chromedp.KeyEvent("\r"))
			b.until(t, `document.querySelector("details").open`)
			return
		}
	}
	t.Error("the settings cannot be reached by keyboard")
}
