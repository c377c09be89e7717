package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/bulkcat/bulkcat/client/answers"
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

// TestDamagedStoreAsksNothingAgain flips bits and truncates a store. After each, a run over known inputs asks nothing and is
// right, or it is refused with the command that recovers the store. The recovered store has all answers that lie intact.
// `make cuts` tries more.
func TestDamagedStoreAsksNothingAgain(t *testing.T) {
	t.Chdir(t.TempDir())
	service := newCountedService(t)
	rng := rand.New(rand.NewPCG(35, 1))
	writeTitles(t, "in.txt", *damageAnswers)
	command := func(want int, args ...string) string {
		t.Helper()
		status, stderr := runHere(args)
		if status != want {
			t.Fatalf("%v ends with %d\n%s", args, status, stderr)
		}
		return stderr
	}
	command(exitComplete, "product", "in.txt", "-o", "whole.csv", "--store", "answers.db", "--quiet")
	sound, err := os.ReadFile("answers.db")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := os.ReadFile("whole.csv")
	if err != nil {
		t.Fatal(err)
	}
	asked := service.asked.Load()
	refused := 0
	for i := range *damageFlips + *damageCuts {
		at := rng.IntN(len(sound))
		damage, content := fmt.Sprintf("bit of byte %d flipped", at), flipped(sound, at)
		if i >= *damageFlips {
			damage, content = fmt.Sprintf("cut at %d", at), sound[:at]
		}
		for _, name := range append(answers.Files("answers.db"), "recovered.db", "out.csv") {
			if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile("answers.db", content, 0o666); err != nil {
			t.Fatal(err)
		}
		run := []string{"product", "in.txt", "-o", "out.csv", "--quiet", "--overwrite", "--store"}
		status, stderr := runHere(append(run, "answers.db"))
		if again := service.asked.Load() - asked; again > 0 {
			t.Fatalf("%s: %d inputs are asked again", damage, again)
		}
		if status != exitComplete {
			refused++
			if !strings.Contains(stderr, "bulkcat store recover") {
				t.Fatalf("%s: exit status %d\n%s", damage, status, stderr)
			}
			told := command(exitComplete, "store", "recover", "recovered.db", "--store", "answers.db")
			var recovered, lost int64
			if _, err := fmt.Sscanf(strings.Replace(told, "at least ", "", 1), "recovered %d answers; %d cannot be read", &recovered, &lost); err != nil {
				t.Fatalf("%s: it says %s", damage, told)
			}
			if i < *damageFlips && recovered < int64(*damageAnswers)-1 {
				t.Errorf("%s: %s", damage, told)
			}
			command(exitComplete, append(run, "recovered.db")...)
			if again := service.asked.Load() - asked; again != int64(*damageAnswers)-recovered {
				t.Errorf("%s: %d inputs are asked again, %d were recovered", damage, again, recovered)
			}
			asked = service.asked.Load()
		}
		if out, err := os.ReadFile("out.csv"); err != nil || !bytes.Equal(out, rows) {
			t.Errorf("%s: the output differs, %v", damage, err)
		}
	}
	t.Logf("%d answers, %d bits flipped, %d cuts: %d stores were refused", *damageAnswers, *damageFlips, *damageCuts, refused)
}

// TestReadingChangesNoStore runs the commands that only read a store: the file is as before.
func TestReadingChangesNoStore(t *testing.T) {
	t.Chdir(t.TempDir())
	service := newCountedService(t)
	writeTitles(t, "in.txt", 600)
	if status, stderr := runHere([]string{"product", "in.txt", "-o", "out.csv", "--store", "store", "--quiet"}); status != exitComplete {
		t.Fatalf("exit status %d\n%s", status, stderr)
	}
	asked := service.asked.Load()
	before := readFiles(t)
	for want, args := range map[string][]string{
		"600 compared":           {"verify", "out.csv", "in.txt", "--store", "store"},
		"already answered   600": {"product", "in.txt", "-o", "again.csv", "--store", "store", "--dry-run"},
		"600":                    {"store", "stats", "--store", "store"},
	} {
		var out, err bytes.Buffer
		status := run(args, strings.NewReader(""), &out, &err)
		if told := out.String() + err.String(); status != exitComplete || !strings.Contains(told, want) {
			t.Errorf("%v ends with %d\n%s", args, status, told[:min(len(told), 600)])
		}
		if after := readFiles(t); !maps.EqualFunc(after, before, bytes.Equal) {
			t.Errorf("%v has changed files", args)
		}
	}
	if again := service.asked.Load() - asked; again > 0 {
		t.Errorf("%d requests were made", again)
	}
}
