package answers

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/ncruces/go-sqlite3"
	"golang.org/x/sync/errgroup"
)

// TestMain is also the main function of the processes that tests start: they ask for requests.
func TestMain(m *testing.M) {
	if path := os.Getenv("ANSWERS_TEST_STORE"); path != "" {
		from, _ := strconv.Atoi(os.Getenv("ANSWERS_TEST_FROM"))
		to, _ := strconv.Atoi(os.Getenv("ANSWERS_TEST_TO"))
		if err := askAll(path, from, to); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// askAll has the answers to all requests from one number to before another, in batches. It prints each request before it
// asks, and after the answer is committed.
func askAll(path string, from, to int) error {
	s, err := Open(Options{Path: path, Source: source})
	if err != nil {
		return err
	}
	out := bufio.NewWriter(os.Stdout)
	waiting := make(map[int]bool)
	for i := from; i < to; i++ {
		waiting[i] = true
	}
	for len(waiting) > 0 {
		var batch []int
		for i := range waiting {
			if batch = append(batch, i); len(batch) == 20 {
				break
			}
		}
		queries := make([]Query, len(batch))
		for i, n := range batch {
			queries[i].Request = request(n)
		}
		if err := errors.Join(s.LookupAll(queries), s.Claim(queries)); err != nil {
			return err
		}
		b := s.NewBatch()
		var asked []int
		for i, n := range batch {
			switch q := queries[i]; {
			case q.Found:
				delete(waiting, n)
			case q.Holder == 0:
				fmt.Fprintln(out, "ask", n)
				b.Add(q.Request, answer(fmt.Sprint("value ", n), time.Now()))
				asked = append(asked, n)
			}
		}
		if err := out.Flush(); err != nil {
			return err
		}
		time.Sleep(time.Duration(rand.IntN(5)) * time.Millisecond)
		if err := b.Commit(); err != nil {
			return err
		}
		for _, n := range asked {
			fmt.Fprintln(out, "committed", n)
			delete(waiting, n)
		}
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return s.Close()
}

// process is one of the processes that ask, with what it has printed.
type process struct {
	*exec.Cmd
	out strings.Builder
}

func (p place) start(from, to int) *process {
	p.Helper()
	c := &process{Cmd: exec.Command(os.Args[0])}
	c.Env = append(os.Environ(), "ANSWERS_TEST_STORE="+p.path, fmt.Sprint("ANSWERS_TEST_FROM=", from), fmt.Sprint("ANSWERS_TEST_TO=", to))
	c.Stdout, c.Stderr = &c.out, os.Stderr
	p.must(c.Start())
	return c
}

// count counts what processes have printed: how often each request was asked, and committed.
func count(processes []*process) (asked, committed map[int]int) {
	asked, committed = make(map[int]int), make(map[int]int)
	for _, c := range processes {
		for line := range strings.Lines(c.out.String()) {
			var n int
			if _, err := fmt.Sscanf(line, "ask %d\n", &n); err == nil {
				asked[n]++
			}
			if _, err := fmt.Sscanf(line, "committed %d\n", &n); err == nil {
				committed[n]++
			}
		}
	}
	return asked, committed
}

// Processes with overlapping requests ask each once.
func TestProcesses(t *testing.T) {
	p := newPlace(t)
	var all []*process
	for i := range 6 {
		all = append(all, p.start(i*100, i*100+600)) // which also race to make the store
	}
	for _, c := range all {
		p.must(c.Wait())
	}
	asked, _ := count(all)
	for n := range 1100 {
		if asked[n] != 1 {
			t.Errorf("request %d was asked %d times", n, asked[n])
		}
	}
	s := p.open()
	for n := range 1100 {
		p.wantValue(s, n, fmt.Sprint("value ", n))
	}
	p.wantEmpty(s, "claims")
	p.wantEmpty(s, "owners")
}

func (p place) wantEmpty(s *Store, table string) {
	p.Helper()
	p.must(s.read(func(c *conn) error {
		rows := 0
		err := c.query("SELECT 1 FROM "+table, func(*sqlite3.Stmt) error { rows++; return nil })
		if rows > 0 {
			p.Errorf("%s has %d rows", table, rows)
		}
		return err
	}))
}

// Processes that are killed and started again ask again only what was in flight, and lose nothing that was committed.
func TestKills(t *testing.T) {
	p := newPlace(t)
	var mu sync.Mutex
	var all []*process
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for kill := range 8 {
				c := p.start(i*200, i*200+800)
				mu.Lock()
				all = append(all, c)
				mu.Unlock()
				if kill == 7 {
					p.must(c.Wait())
					return
				}
				time.Sleep(time.Duration(30+rand.IntN(120)) * time.Millisecond)
				_ = c.Process.Kill()
				_ = c.Wait() // the kill
			}
		})
	}
	group.Wait()
	asked, committed := count(all)
	again := 0
	for n := range 1400 {
		again += asked[n] - 1
		if committed[n] > 1 {
			t.Errorf("request %d was committed %d times", n, committed[n])
		}
	}
	if again > 4*7*20 {
		t.Errorf("%d requests were asked again", again)
	}
	s := p.open()
	for n := range 1400 {
		p.wantValue(s, n, fmt.Sprint("value ", n))
	}
	p.must(s.read(func(c *conn) error {
		return c.query("PRAGMA integrity_check", func(row *sqlite3.Stmt) error {
			if text := row.ColumnText(0); text != "ok" {
				t.Error(text)
			}
			return nil
		})
	}))
}

func claim(t *testing.T, s *Store, numbers ...int) (held, found []bool) {
	t.Helper()
	var queries []Query
	for _, n := range numbers {
		queries = append(queries, Query{Request: request(n)})
	}
	if err := errors.Join(s.LookupAll(queries), s.Claim(queries)); err != nil {
		t.Fatal(err)
	}
	for _, q := range queries {
		held, found = append(held, q.Holder != 0), append(found, q.Found)
	}
	return held, found
}

// A claim ends with the answer, when it is given back, and when its owner closes the store or is gone.
func TestClaims(t *testing.T) {
	p := newPlace(t)
	first, second := p.open(), p.open()
	if held, found := claim(t, first, 1, 2, 3); held[0] || found[0] {
		t.Error("the first claim failed")
	}
	if held, _ := claim(t, first, 1, 2, 3); held[0] {
		t.Error("the own claim is held")
	}
	if held, _ := claim(t, second, 1, 2, 3, 4); !held[0] || !held[1] || !held[2] || held[3] {
		t.Errorf("the second claim: %v", held)
	}
	query := []Query{{Request: request(1)}}
	if p.must(second.Claim(query)); query[0].Holder != os.Getpid() {
		t.Errorf("process %d holds the claim", query[0].Holder)
	}
	p.put(first, 1, 2)
	first.Release(request(2))
	first.using <- struct{}{}
	first.commitAll() // of a call that another goroutine has committed
	<-first.using
	claim(t, first, 5) // carries the release
	if held, found := claim(t, second, 1, 2, 3); !found[0] || held[1] || !held[2] {
		t.Errorf("after an answer and a release: %v, %v", held, found)
	}
	if held, _ := claim(t, first, 2, 4); !held[0] || !held[1] {
		t.Errorf("the claims of the second: %v", held)
	}
	p.must(first.Close())
	if held, _ := claim(t, second, 3); held[0] {
		t.Error("the claim of a closed store is held")
	}
	p.must(second.Close())
	p.wantEmpty(p.open(), "claims")
}

// A request that another process has answered after the lookup is found by the claim, also if this process has written since.
func TestClaimAfterLookup(t *testing.T) {
	for _, writes := range []bool{false, true} {
		t.Run(fmt.Sprintf("writes=%t", writes), func(t *testing.T) {
			p := newPlace(t)
			first, second := p.open(), p.open()
			defer first.Close()
			defer second.Close()
			claim(t, first, 10)
			query := []Query{{Request: request(1)}, {Request: request(2)}}
			p.must(first.LookupAll(query))
			p.put(second, 1, 2)
			if writes {
				p.put(first, 11, 12)
				claim(t, first, 12)
			}
			if p.must(first.Claim(query)); !query[0].Found || query[1].Found || query[1].Holder != 0 {
				t.Errorf("found: %t and %t, held by %d", query[0].Found, query[1].Found, query[1].Holder)
			}
		})
	}
}

// In a store that processes do not share, a claim is a lookup.
func TestClaimAlone(t *testing.T) {
	p := newPlace(t)
	s := p.open(exclusive)
	p.put(s, 1, 2)
	if held, found := claim(t, s, 1, 2); held[0] || held[1] || !found[0] || found[1] {
		t.Errorf("held %v, found %v", held, found)
	}
	query := []Query{{Request: request(1)}}
	if p.must(s.Claim(query)); !query[0].Found {
		t.Error("the claim does not find the answer")
	}
	p.wantEmpty(s, "claims")
}

// A request that this process has answered after the lookup, without a claim, is found by the claim.
func TestClaimAfterCommit(t *testing.T) {
	for name, commit := range map[string]func(place, *Store){
		"never claimed": func(p place, s *Store) { p.put(s, 1, 2) },
		"given back": func(p place, s *Store) {
			claim(p.T, s, 1)
			s.Release(request(1))
			p.put(s, 1, 2)
		},
		"imported": func(p place, s *Store) {
			from := newPlace(p.T).open()
			p.put(from, 1, 2)
			_, err := s.Import(p.Context(), from.Scan)
			p.must(err)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlace(t)
			s := p.open()
			claim(p.T, s, 10)
			query := []Query{{Request: request(1)}}
			p.must(s.LookupAll(query))
			commit(p, s)
			if p.must(s.Claim(query)); !query[0].Found {
				t.Error("the request would be asked again")
			}
		})
	}
}

// Claims that wait while a commit takes long are made together.
func TestClaimsAtOnce(t *testing.T) {
	p := newPlace(t)
	s, other := p.open(), p.open()
	defer other.Close()
	defer s.Close()
	s.using <- struct{}{} // a commit that takes long
	var claims errgroup.Group
	for i := range 100 {
		claims.Go(func() error {
			query := []Query{{Request: request(i)}}
			if err := s.Claim(query); err != nil || query[0].Holder != 0 || query[0].Found {
				return fmt.Errorf("request %d: %+v, %v", i, query[0], err)
			}
			return nil
		})
	}
	for waiting := 0; waiting < 100; runtime.Gosched() {
		s.waiting.Lock()
		waiting = len(s.changes[false])
		s.waiting.Unlock()
	}
	s.commitAll()
	<-s.using
	p.must(claims.Wait())
	for i := range 100 {
		query := []Query{{Request: request(i)}}
		if p.must(other.Claim(query)); query[0].Holder == 0 {
			t.Errorf("request %d is not held", i)
		}
	}
}

// A process that was stopped, and shows no life, loses its claims after the lease; what it commits later counts. It keeps
// them while no process could look.
func TestLease(t *testing.T) {
	p := newPlace(t)
	first, second := p.open(), p.open()
	claim(t, first, 1)
	claim(t, second, 1)
	later := func(d time.Duration) {
		second.using <- struct{}{}
		for id, seen := range second.owner.others {
			seen.at = seen.at.Add(-d)
			second.owner.others[id] = seen
		}
		<-second.using
	}
	for i, d := range append([]time.Duration{time.Hour}, slices.Repeat([]time.Duration{beatEvery}, lease-1)...) {
		later(d)
		if held, _ := claim(t, second, 1); !held[0] {
			t.Fatalf("not held at look %d", i)
		}
	}
	later(beatEvery)
	if held, _ := claim(t, second, 1); held[0] {
		t.Error("held after the lease")
	}
	if n, err := first.Lapses(); n != 0 || err != nil {
		t.Errorf("%d lapses, %v", n, err)
	}
	stopped := time.Now().Add(-2 * lease * beatEvery)
	first.owner.shown.Store(&stopped)
	if n, err := first.Lapses(); n != 1 || err != nil {
		t.Errorf("%d lapses, %v", n, err)
	}
	if held, _ := claim(t, first, 1, 2); !held[0] || held[1] {
		t.Errorf("the first is not refused: %v", held)
	}
	p.put(first, 1, 2)
	if _, found := claim(t, second, 1); !found[0] {
		t.Error("the late answer is not found")
	}
}

// A process that has lost its claims is seen again with its next claim, even if it is killed before it shows life.
func TestClaimAfterLapse(t *testing.T) {
	p := newPlace(t)
	first, second := p.open(), p.open()
	claim(t, first, 1)
	p.must(second.commit(false, func(c *conn) error { return c.removeOwner(first.owner.id.Load()) }))
	if held, _ := claim(t, second, 1); held[0] {
		t.Error("a lost claim is held")
	}
	claim(t, first, 2)
	if n, err := first.Lapses(); n != 1 || err != nil {
		t.Errorf("%d lapses, %v", n, err)
	}
	if held, _ := claim(t, second, 2); !held[0] {
		t.Error("the claim after the lapse is not held")
	}
	p.must(errors.Join(first.Close(), second.Close()))
	p.wantEmpty(p.open(), "claims")
}

// A claim of a process that was killed is taken over at once.
func TestKilledOwner(t *testing.T) {
	p := newPlace(t)
	s := p.open()
	claim(t, s, 1) // makes the process wait
	c := p.start(0, 2)
	for claimed := false; !claimed; time.Sleep(5 * time.Millisecond) {
		_, found := claim(t, s, 1)
		claimed = !found[0] && len(s.owner.others) > 0
	}
	p.must(c.Process.Kill())
	_ = c.Wait() // the kill
	if held, found := claim(t, s, 0); held[0] && !found[0] {
		t.Error("the claim of a killed process is held")
	}
	p.put(s, 1, 2)
}
