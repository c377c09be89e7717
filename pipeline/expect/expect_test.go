package expect

import (
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/diff"
	"github.com/bulkcat/bulkcat/pipeline/report"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Expectation{
		"ok >= 95%":              {"ok", ">=", 95, true},
		"  failed<=0.1% ":        {"failed", "<=", 0.1, true},
		"records >= 10000":       {"records", ">=", 10000, false},
		"confidence.mean > .6":   {"confidence.mean", ">", 0.6, false},
		"confidence.mean >= 60%": {"confidence.mean", ">=", 60, true},
		"pending = 0":            {"pending", "==", 0, false},
		"new_categories < 20":    {"new_categories", "<", 20, false},
		"changed <= 10%":         {"changed", "<=", 10, true},
		"unanswered == 0%":       {"unanswered", "==", 0, true},
	} {
		got, err := Parse(text)
		if err != nil || got != want {
			t.Errorf("%q: %+v, %v; want %+v", text, got, err, want)
		}
		if again, err := Parse(got.String()); err != nil || again != got {
			t.Errorf("%q is written as %q, which is %+v, %v", text, got, again, err)
		}
	}
	for text, want := range map[string]string{
		"":                      "no expectation",
		"ok":                    "no expectation",
		"ok >= ":                "no expectation",
		"ok >= many":            "no expectation",
		"ok >= -1":              "no expectation",
		"ok >= 1e9":             "no expectation",
		"ok => 5":               "no expectation",
		"ok >= 95 %%":           "no expectation",
		"okay >= 95%":           "no figure okay",
		"ok >= 101%":            "100% at most",
		"rows >= 5%":            "no percentage",
		"confidence.mean >= 60": "1 at most",
	} {
		if e, err := Parse(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %+v, %v; want %q", text, e, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{"ok >= 95%", "confidence.mean>.6", "records == 0", "changed <= 10%", "ok"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		e, err := Parse(text)
		if err != nil {
			return
		}
		if again, err := Parse(e.String()); err != nil || again != e {
			t.Errorf("%q became %q, which is %+v, %v", text, e, again, err)
		}
	})
}

func TestFigures(t *testing.T) {
	mean := 0.5
	classes := []report.Classification{
		{Name: "a", Records: 6, Distinct: 3, Coverage: []report.Coverage{{Status: "ok", Records: 4}, {Status: "failed", Records: 2}},
			Confidence: report.Distribution{Mean: &mean, Bins: []int64{10: 4}}},
		{Name: "b", Records: 6, Distinct: 2, Coverage: []report.Coverage{{Status: "ok", Records: 5}, {Status: "invalid", Records: 1}}},
	}
	full := figuresOf(report.Summary{Rows: 20, Classifications: classes})
	full.compared = &diff.Summary{
		Unchanged: 6, Changes: map[diff.Kind]int64{diff.Category: 2, diff.Status: 1, diff.Confidence: 1, diff.Added: 5, diff.Removed: 7},
		Moves: []diff.Move{{Classification: "a", Old: "x", New: "x"}, {Classification: "a", Old: "x", New: "y"}, {Classification: "a", Old: diff.Absent, New: "z"}, {Classification: "b", Old: "y", New: diff.NoCategory}},
	}
	empty := figuresOf(report.Summary{})
	empty.compared = &diff.Summary{Moves: []diff.Move{{Old: diff.Others, New: diff.Others}}}
	tests := []struct {
		text, value string
		met         bool
		of          *figures
	}{
		{"records == 12", "12", true, full},
		{"rows > 20", "20", false, full},
		{"ok >= 75%", "75% (9 of 12)", true, full},
		{"ok > 9", "9", false, full},
		{"failed <= 16%", "16.67% (2 of 12)", false, full},
		{"unanswered < 4", "3", true, full},
		{"empty == 0", "0", true, full},
		{"rejected == 0%", "0% (0 of 12)", true, full},
		{"pending <= 0", "0", true, full},
		{"categories <= 5", "5", true, full},
		{"confidence.mean >= 0.5", "0.5000", true, full},
		{"confidence.mean >= 50.1%", "50%", false, full},
		{"changed <= 30%", "30% (3 of 10)", true, full},
		{"changed <= 2", "3", false, full},
		{"new_categories <= 2", "2", true, full},
		{"records >= 1", "0", false, empty},
		{"ok >= 0%", "unknown", false, empty},
		{"failed <= 100%", "unknown", false, empty},
		{"confidence.mean >= 0", "unknown", false, empty},
		{"changed <= 100%", "unknown", false, empty},
		{"new_categories >= 0", "unknown", false, empty},
	}
	for _, tt := range tests {
		e, err := Parse(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		if r := e.result(tt.of.value(e.Figure)); r.Value != tt.value || r.Met != tt.met {
			t.Errorf("%s: %s, %v; want %s, %v", tt.text, r.Value, r.Met, tt.value, tt.met)
		}
	}
}
