package report

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

func TestSample(t *testing.T) {
	for name, test := range map[string]struct {
		sample              Sample
		median, least, most float64
	}{
		"none":      {nil, 0, 0, 0},
		"one":       {Sample{3}, 3, 3, 3},
		"odd":       {Sample{9, 1, 4}, 4, 1, 9},
		"even":      {Sample{9, 1, 4, 5}, 4.5, 1, 9},
		"an outlet": {Sample{1, 1, 1, 100, 1}, 1, 1, 100},
	} {
		t.Run(name, func(t *testing.T) {
			before := slices.Clone(test.sample)
			if got := test.sample.Median(); got != test.median {
				t.Errorf("a median of %v, want %v", got, test.median)
			}
			if least, most := test.sample.Spread(); least != test.least || most != test.most {
				t.Errorf("between %v and %v, want %v and %v", least, most, test.least, test.most)
			}
			if !slices.Equal(test.sample, before) {
				t.Errorf("the rounds are now in the order %v", test.sample)
			}
		})
	}
}

func TestRatiosAreOfRounds(t *testing.T) {
	// The machine is twice as slow in the second round, for both.
	got := Ratios(Sample{80, 40, 7, 1}, Sample{100, 50, 0})
	if want := (Sample{0.8, 0.8}); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestDifference(t *testing.T) {
	before := Sample{105, 101, 104, 102, 103}
	if got, want := Difference(before, Sample{85, 81, 84, 82, 83}), "p=0.008 n=5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := Difference(before, before), "p=1.000 n=5"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if before[0] != 105 {
		t.Error("the rounds are in another order")
	}
}

func TestUnits(t *testing.T) {
	for want, got := range map[string]string{
		"0.71":          Ratio.Format(0.712),
		"15%":           Percent.Format(0.15),
		"1,234,567/s":   PerSecond.Format(1234567.4),
		"-1,000":        Count.Format(-1000),
		"999":           Count.Format(999),
		"12,345.7":      Decimal.Format(12345.67),
		"43.5 ms":       Milliseconds.Format(0.0435),
		"52.1 µs":       Microseconds.Format(52.1e-6),
		"22.6 MiB":      MiB.Format(23728290),
		"312 MB/s":      MBPerSecond.Format(312e6),
		"3,600.0 s":     Seconds.Format(3600),
		"not measured":  Claim{Unit: Ratio}.Figure(),
		"0.5":           Claim{Unit: Decimal, Sample: Sample{0.5}}.Figure(),
		"2 ms (1 to 3)": Claim{Unit: Unit{name: " ms"}, Sample: Sample{3, 1, 2}}.Figure(),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestStatus(t *testing.T) {
	for name, test := range map[string]struct {
		claim Claim
		want  string
	}{
		"no bound":     {Claim{Sample: Sample{1}}, ""},
		"not measured": {Claim{Unit: Ratio, Bound: AtLeast(0.7)}, "at least 0.70: not measured"},
		"just met":     {Claim{Unit: Ratio, Sample: Sample{0.7}, Bound: AtLeast(0.7)}, "at least 0.70: met"},
		"too little":   {Claim{Unit: Ratio, Sample: Sample{0.69}, Bound: AtLeast(0.7)}, "at least 0.70: **not met**"},
		"just within":  {Claim{Unit: Ratio, Sample: Sample{1.5}, Bound: AtMost(1.5)}, "at most 1.50: met"},
		"too much":     {Claim{Unit: Ratio, Sample: Sample{1.51}, Bound: AtMost(1.5)}, "at most 1.50: **not met**"},
		"the median":   {Claim{Unit: Ratio, Sample: Sample{9, 1, 1}, Bound: AtMost(1.5)}, "at most 1.50: met"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := test.claim.Status(); got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestMarkdown(t *testing.T) {
	table := NewClaims("Start-up")
	table.AddClaim("help", Claim{Sample: Sample{0.02, 0.0213, 0.03}, Unit: Milliseconds, Bound: AtMost(0.03)})
	table.Add("a|b", "µ", "")
	want := `**Start-up**

| measured | result                 | wanted               |
|----------|------------------------|----------------------|
| help     | 21.3 ms (20.0 to 30.0) | at most 30.0 ms: met |
| a\|b     | µ                      |                      |
`
	if got := table.Markdown(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestRewrite(t *testing.T) {
	begin, end := Performance.begin, Performance.end
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
			err := Performance.Rewrite(path, "new\n")
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
	text, err := os.ReadFile("../RESULTS.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []Section{Performance, Growth} {
		if _, err := s.replace(string(text), ""); err != nil {
			t.Error(err)
		}
	}
}
