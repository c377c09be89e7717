package main

import (
	"bytes"
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/normalize"
)

var (
	damageAnswers = flag.Int("damage-answers", 1000, "TestDamagedStoreAsksNothingAgain damages a store of `N` answers")
	damageFlips   = flag.Int("damage-flips", 16, "TestDamagedStoreAsksNothingAgain flips `N` bits, each in another copy")
	damageCuts    = flag.Int("damage-cuts", 4, "TestDamagedStoreAsksNothingAgain truncates `N` files, each in another copy")
)

// countedService counts the requests for categories.
type countedService struct {
	*httptest.Server
	asked atomic.Int64
}

func newCountedService(t *testing.T) *countedService {
	s := new(countedService)
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/api/usage" {
			s.asked.Add(1)
		}
		unlimited().ServeHTTP(w, r)
	}))
	t.Cleanup(s.Close)
	t.Setenv("BULKCAT_BASE_URL", s.URL)
	t.Setenv("BULKCAT_API_KEY", testKey)
	return s
}

// damagedStore is a store of which each case damages a copy.
type damagedStore struct {
	*testing.T
	service *countedService
	titles  []string
	files   map[string][]byte
	known   map[string]bool // titles in known.txt
	rng     *rand.Rand
	lost    int // answers that lay in a damaged pack of the log
	refused int
}

// TestDamagedStoreAsksNothingAgain flips bits and truncates files of a store. After each, a run over known inputs, an
// export and a compaction neither ask again nor lose an answer that lies intact in the log. `make cuts` tries more.
func TestDamagedStoreAsksNothingAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	d := &damagedStore{T: t, service: newCountedService(t), known: make(map[string]bool), rng: rand.New(rand.NewPCG(35, 1))}
	writeTitles(t, "in.txt", *damageAnswers)
	text, err := os.ReadFile("in.txt")
	if err != nil {
		t.Fatal(err)
	}
	d.titles = strings.Split(strings.TrimSpace(string(text)), "\n")
	d.fill()
	for _, i := range d.rng.Perm(len(d.titles))[:min(2000, len(d.titles))] {
		d.known[d.titles[i]] = true
	}
	if err := os.WriteFile("known.txt", []byte(strings.Join(slices.Collect(maps.Keys(d.known)), "\n")), 0o666); err != nil {
		t.Fatal(err)
	}
	var names []string
	for name, text := range d.files {
		if len(text) > 0 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for i := range *damageFlips + *damageCuts {
		name := names[d.rng.IntN(len(names))]
		whole := d.files[name]
		at := d.rng.IntN(len(whole))
		if i < *damageFlips {
			d.try(name, fmt.Sprintf("bit of byte %d flipped", at), flipped(whole, at))
		} else {
			d.try(name, fmt.Sprintf("cut at %d", at), whole[:at])
		}
	}
	t.Logf("%d answers in %d files, %d bits flipped, %d files cut: %d answers were in damaged packs, %d stores were refused", len(d.titles), len(names), *damageFlips, *damageCuts, d.lost, d.refused)
}

// fill makes the store, with ten answers that were replaced.
func (d *damagedStore) fill() {
	d.Helper()
	store := d.open("store")
	batch := store.NewBatch()
	for i, title := range slices.Concat(d.titles, d.titles[:10]) {
		body := fmt.Appendf(nil, `{"product_taxonomy":[{"value":"Garden > Hoses > %d","confidence":0.5}]}`, i%977)
		batch.Add(requestOf(d.T, title), answers.Outcome{Answer: client.Answer{Body: body, AnsweredAt: time.Now()}})
		if i%256 == 255 || i >= len(d.titles)-1 {
			d.must(batch.Commit())
		}
	}
	d.must(store.Close())
	d.files = readFiles(d.T)
	maps.DeleteFunc(d.files, func(name string, _ []byte) bool { return !strings.HasPrefix(name, "store/") })
}

func (d *damagedStore) open(dir string) *answers.Store {
	d.Helper()
	store, err := answers.Open(answers.Options{Dir: dir, Source: d.service.URL})
	d.must(err)
	return store
}

func (d *damagedStore) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func requestOf(t *testing.T, title string) client.Request {
	t.Helper()
	request, err := normalize.Normalizer{}.Request(client.Product, title, client.ProductTaxonomy)
	if err != nil {
		t.Fatal(err)
	}
	return request
}

// try damages one file, and uses the store as the commands do.
func (d *damagedStore) try(name, damage string, content []byte) {
	d.Helper()
	d.lay(name, content)
	intact := d.titles
	if strings.HasSuffix(name, ".log") {
		intact = d.inLog()
		d.lay(name, content)
	}
	d.must(os.RemoveAll("out.csv"))
	before := d.service.asked.Load()
	status, stderr := runHere([]string{"product", "known.txt", "-o", "out.csv", "--store", "store", "--quiet"})
	asked := int(d.service.asked.Load() - before)
	if status != exitComplete && asked == 0 && strings.HasSuffix(name, ".log") && strings.Contains(stderr, "has format") {
		d.refused++ // the version in the header of the log
		return
	}
	lost := len(d.known)
	for _, title := range intact {
		if d.known[title] {
			lost--
		}
	}
	if status != exitComplete || asked != lost {
		d.Errorf("%s %s: exit status %d, %d known inputs are asked again, and %d are lost\n%s", name, damage, status, asked, lost, stderr)
	}
	d.lost += len(d.titles) - len(intact)
	d.wantExported(intact, name+" "+damage)
	if status, stderr := runHere([]string{"store", "compact", "store"}); status != exitComplete {
		d.Errorf("%s %s: compaction ends with %d\n%s", name, damage, status, stderr)
	}
	d.wantExported(intact, name+" "+damage+", compacted")
}

// lay restores the store, except for one file.
func (d *damagedStore) lay(name string, content []byte) {
	d.Helper()
	d.must(os.RemoveAll("store"))
	d.must(os.MkdirAll("store/index", 0o777))
	for file, whole := range d.files {
		if file == name {
			whole = content
		}
		d.must(os.WriteFile(file, whole, 0o666))
	}
}

// inLog returns the titles whose answers lie intact in the log.
func (d *damagedStore) inLog() (intact []string) {
	d.Helper()
	d.must(os.RemoveAll("store/index"))
	store, err := answers.Open(answers.Options{Dir: "store", ReadOnly: true})
	if err != nil {
		return d.titles // nothing is asked, as the store is refused
	}
	d.must(store.Scan(func(a answers.Stored) error { intact = append(intact, a.Request.Input); return nil }))
	d.must(store.Close())
	return intact
}

// wantExported wants an export to have the answers to titles.
func (d *damagedStore) wantExported(titles []string, damage string) {
	d.Helper()
	var out, err bytes.Buffer
	if status := run([]string{"store", "export", "store"}, strings.NewReader(""), &out, &err); status != exitComplete {
		d.Errorf("%s: the export ends with %d\n%s", damage, status, &err)
	}
	exported := make(map[string]bool, len(titles))
	for line := range bytes.Lines(out.Bytes()) {
		_, rest, _ := bytes.Cut(line, []byte(`"input":"`))
		title, _, _ := bytes.Cut(rest, []byte(`"`))
		exported[string(title)] = true
	}
	for _, title := range titles {
		if !exported[title] {
			d.Errorf("%s: %d answers are exported, and %q is not, which lies intact in the log", damage, len(exported), title)
			return
		}
	}
}

// TestReadingChangesNoStore runs the commands that only read a store over stores whose index is damaged: they give all
// answers, and the folder is as before.
func TestReadingChangesNoStore(t *testing.T) {
	t.Chdir(t.TempDir())
	service := newCountedService(t)
	const n = 600
	writeTitles(t, "in.txt", n)
	if status, stderr := runHere([]string{"product", "in.txt", "-o", "out.csv", "--store", "store", "--quiet"}); status != exitComplete {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	asked := service.asked.Load()
	whole := readFiles(t)
	for name, text := range whole {
		if !strings.Contains(name, "store/index/") || len(text) == 0 {
			continue
		}
		for kind, content := range map[string][]byte{"flipped": flipped(text, len(text)/2), "cut": text[:len(text)*3/4]} {
			if err := os.WriteFile(name, content, 0o666); err != nil {
				t.Fatal(err)
			}
			for want, args := range map[string][]string{
				"":                       {"verify", "out.csv", "in.txt", "--store", "store"},
				"exported 600 answers":   {"store", "export", "store"},
				"already answered   600": {"product", "in.txt", "-o", "again.csv", "--store", "store", "--dry-run"},
				"600":                    {"store", "stats", "store"},
			} {
				var out, err bytes.Buffer
				status := run(args, strings.NewReader(""), &out, &err)
				if told := out.String() + err.String(); status != exitComplete || !strings.Contains(told, want) {
					t.Errorf("%s %s: %v ends with %d\n%s", name, kind, args, status, told[:min(len(told), 600)])
				}
			}
			after := readFiles(t)
			if changed := changedFile(after, whole, name, content); changed != "" {
				t.Errorf("%s %s: %s has changed", name, kind, changed)
			}
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
	if again := service.asked.Load() - asked; again > 0 {
		t.Errorf("%d requests were made", again)
	}
}

// changedFile returns the first file that is not as before, except for the damaged file, which must have its content.
func changedFile(after, before map[string][]byte, damaged string, content []byte) string {
	before = maps.Clone(before)
	before[damaged] = content
	for name := range before {
		if !bytes.Equal(after[name], before[name]) {
			return name
		}
	}
	for name := range after {
		if _, there := before[name]; !there && filepath.Base(name) != "store.visited" {
			return name
		}
	}
	return ""
}
