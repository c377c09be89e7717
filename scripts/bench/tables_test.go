package main

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSample(t *testing.T) {
	for name, test := range map[string]struct {
		sample sample
		median float64
	}{
		"none":      {nil, 0},
		"one":       {sample{3}, 3},
		"odd":       {sample{9, 1, 4}, 4},
		"even":      {sample{9, 1, 4, 5}, 4.5},
		"an outlet": {sample{1, 1, 1, 100, 1}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.sample)
			if got := test.sample.median(); got != test.median {
				t.Errorf("a median of %v, want %v", got, test.median)
			}
			if !slices.Equal(test.sample, before) {
				t.Errorf("the rounds are now in the order %v", test.sample)
			}
		})
	}
}

func TestRatiosAreOfRounds(t *testing.T) {
	// The machine is twice as slow in the second round, for both.
	got := ratios(sample{80, 40, 7, 1}, sample{100, 50, 0})
	if want := (sample{0.8, 0.8}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"0.71":          ratio.format(0.712),
		"15%":           percent.format(0.15),
		"1,234,567/s":   perSecond.format(1234567.4),
		"-1,000":        count.format(-1000),
		"999":           count.format(999),
		"43.5 ms":       milliseconds.format(0.0435),
		"52.1 µs":       microseconds.format(52.1e-6),
		"22.6 MiB":      mebibytes.format(23728290),
		"3,600.0 s":     seconds.format(3600),
		"not measured":  claim{unit: ratio}.figure(),
		"0.50":          claim{unit: ratio, sample: sample{0.5}}.figure(),
		"2 ms (1 to 3)": claim{unit: unit{" ms", 0, 1}, sample: sample{3, 1, 2}}.figure(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	for name, test := range map[string]struct {
		claim claim
		want  string
	}{
		"no bound":     {claim{sample: sample{1}}, ""},
		"not measured": {claim{unit: ratio, bound: atLeast(0.7)}, "at least 0.70: not measured"},
		"just met":     {claim{unit: ratio, sample: sample{0.7}, bound: atLeast(0.7)}, "at least 0.70: met"},
		"too little":   {claim{unit: ratio, sample: sample{0.69}, bound: atLeast(0.7)}, "at least 0.70: **not met**"},
		"just within":  {claim{unit: ratio, sample: sample{1.5}, bound: atMost(1.5)}, "at most 1.50: met"},
		"too much":     {claim{unit: ratio, sample: sample{1.51}, bound: atMost(1.5)}, "at most 1.50: **not met**"},
		"the median":   {claim{unit: ratio, sample: sample{9, 1, 1}, bound: atMost(1.5)}, "at most 1.50: met"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.claim.status(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	got := newClaims("Start-up")
	got.addClaim("help", claim{sample: sample{0.02, 0.0213, 0.03}, unit: milliseconds, bound: atMost(0.03)})
	got.add("start", "µ", "")
	want := `**Start-up**

| measured | result                 | wanted               |
| ---      | ---                    | ---                  |
| help     | 21.3 ms (20.0 to 30.0) | at most 30.0 ms: met |
| start    | µ                      |                      |
`
	if got := got.markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRewrite(t *testing.T) {
	begin, end := performance.begin, performance.end
	for name, test := range map[string]struct{ text, want string }{
		"first time":  {"a\n" + begin + end + "b\n", "a\n" + begin + "\nnew\n\n" + end + "b\n"},
		"again":       {"a\n" + begin + "\nold\n\n" + end + "b\n", "a\n" + begin + "\nnew\n\n" + end + "b\n"},
		"no markers":  {"a\n", ""},
		"no end":      {begin + "a\n", ""},
		"twice":       {begin + end + begin + end, ""},
		"wrong order": {end + begin, ""},
		"empty file":  {"", ""},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "RESULTS.md")
			if err := os.WriteFile(path, []byte(test.text), 0o666); err != nil {
				t.Fatal(err)
			}
			err := performance.rewrite(path, "new\n")
			got, readErr := os.ReadFile(path)
			if readErr != nil {
				t.Fatal(readErr)
			}
			if test.want == "" {
				if err == nil || string(got) != test.text {
					t.Errorf("got %v and %q", err, got)
				}
				return
			}
			if err != nil || string(got) != test.want {
				t.Errorf("got %v and %q, want %q", err, got, test.want)
			}
		})
	}
}

// TestResultsHaveSections keeps places for the figures in the document of results.
func TestResultsHaveSections(t *testing.T) {
	text, err := os.ReadFile("RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []section{performance, grown} {
		if _, err := s.replace(string(text), ""); err != nil {
			t.Error(err)
		}
	}
}
