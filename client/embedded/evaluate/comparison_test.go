package evaluate

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

func everything(string) bool { return true }

var codeLevels = LevelsOf(taxonomy.NAICS())

func TestLevels(t *testing.T) {
	for _, tt := range []struct {
		name   string
		levels Levels
		value  string
		want   []string
	}{
		{"path", pathLevels, "A > B > C", []string{"A", "B", "C"}},
		{"path without spaces", pathLevels, " A>B ", []string{"A", "B"}},
		{"no path", pathLevels, " > ", nil},
		{"industry", codeLevels, "541511", []string{"54", "541", "5415", "54151", "541511"}},
		{"sector of several numbers", codeLevels, "3254", []string{"31-33", "325", "3254"}},
		{"sector as a range", codeLevels, "44-45", []string{"44-45"}},
		{"number of a sector", codeLevels, "49", []string{"48-49"}},
		{"no code", codeLevels, "x", nil},
		{"one digit", codeLevels, "5", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.levels(tt.value); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("%q, want %q", got, tt.want)
			}
		})
	}
}

func TestRight(t *testing.T) {
	for _, tt := range []struct {
		name         string
		levels       Levels
		label        string
		answers      []string
		first, three bool
		byLevel      []bool // of the levels that the label has
	}{
		{"equal", pathLevels, "A > B", []string{"A > B"}, true, true, []bool{true, true}},
		{"below", pathLevels, "A", []string{"A > B > C"}, true, true, []bool{true}},
		{"above", pathLevels, "A > B", []string{"A"}, false, false, []bool{true, false}},
		{"beside", pathLevels, "A > B", []string{"A > C"}, false, false, []bool{true, false}},
		{"begins with the same letters", pathLevels, "A > B", []string{"A > Bx"}, false, false, []bool{true, false}},
		{"third", pathLevels, "A", []string{"B", "C", "A > D"}, false, true, []bool{false}},
		{"fourth", pathLevels, "A", []string{"B", "C", "D", "A"}, false, false, []bool{false}},
		{"another allowed", pathLevels, "A > B|C", []string{"C > D"}, true, true, []bool{true, false}},
		{"no answer", pathLevels, "A > B", nil, false, false, []bool{false, false}},
		{"code below", codeLevels, "5415", []string{"541511"}, true, true, []bool{true, true, true}},
		{"code beside", codeLevels, "5415", []string{"541611"}, false, false, []bool{true, true, false}},
		{"same sector", codeLevels, "31-33", []string{"325412"}, true, true, []bool{true}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			comparison := newComparison(tt.levels, everything)
			var answers []client.Entry
			for _, value := range tt.answers {
				answers = append(answers, client.Entry{Value: value, Confidence: 0.5})
			}
			comparison.Add(tt.label, answers)
			r := comparison.Report()
			if (r.Top1 == 1) != tt.first || (r.Top3 == 1) != tt.three || (r.Coverage == 1) != (len(answers) > 0) {
				t.Errorf("top-1 %v, top-3 %v, coverage %v", r.Top1, r.Top3, r.Coverage)
			}
			var byLevel []bool
			for _, level := range r.Levels {
				byLevel = append(byLevel, level.Right == 1)
			}
			if !reflect.DeepEqual(byLevel, tt.byLevel) {
				t.Errorf("right by level: %v, want %v", byLevel, tt.byLevel)
			}
			if wrong := len(r.Confusions) == 1; wrong != (len(answers) > 0 && !tt.first) {
				t.Errorf("confusions %v", r.Confusions)
			}
		})
	}
}

func TestReport(t *testing.T) {
	comparison := newComparison(pathLevels, func(value string) bool { return value == "A > B" })
	comparison.Invalid()
	comparison.Add("", []client.Entry{{Value: "A", Confidence: 0.5}})
	comparison.Add("A > B", []client.Entry{{Value: "A > B", Confidence: 0.95}})
	comparison.Add("A > B", []client.Entry{{Value: "A > C", Confidence: 0.91}})
	comparison.Add("A>B", []client.Entry{{Value: "A > C", Confidence: 1.5}})
	comparison.Add("A > X", []client.Entry{{Value: "A > X", Confidence: math.NaN()}})
	comparison.Add("A > B", nil)
	got := comparison.Report()
	want := Report{
		Records: 7, Invalid: 1, Unlabelled: 1, Labelled: 5, Unknown: 1, Answered: 4,
		Coverage: 0.8, Top1: 0.4, Top3: 0.4, Top1OfAnswered: 0.5,
		Levels:           []Level{{1, 5, 0.8}, {2, 5, 0.4}},
		Bins:             []Bin{{0.9, 1, 3, 0.9533333333333333, 1.0 / 3}},
		CalibrationError: 0.62,
		Confusions:       []Confusion{{"A > B", "A > C", 2}},
	}
	got.CalibrationError = math.Round(got.CalibrationError*1e6) / 1e6
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestReportOfNothing(t *testing.T) {
	got := newComparison(pathLevels, everything).Report()
	want := Report{Levels: []Level{}, Bins: []Bin{}, Confusions: []Confusion{}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

// The number of pairs and the length of their values are limited.
func TestConfusionsAreBounded(t *testing.T) {
	comparison := newComparison(pathLevels, everything)
	for i := range maxPairs + 10 {
		comparison.Add(fmt.Sprint("A", i), []client.Entry{{Value: strings.Repeat("é", 500), Confidence: 0.5}})
	}
	if len(comparison.confusions) != maxPairs || comparison.Report().Uncounted != 10 {
		t.Errorf("%d pairs, %d not counted", len(comparison.confusions), comparison.uncounted)
	}
	for p := range comparison.confusions {
		if len(p.answer) > maxShown {
			t.Fatalf("%d bytes of an answer are kept", len(p.answer))
		}
	}
}

// For any labels and answers, shares are between 0 and 1, and do not grow with the level.
func FuzzTally(f *testing.F) {
	f.Add("A > B|C", "A > B", 0.5)
	f.Add("5415", "541511", 1.0)
	f.Add("||>", ">>", math.Inf(1))
	f.Add("31-33", "\xff", -3.0)
	f.Fuzz(func(t *testing.T, label, value string, confidence float64) {
		for _, levels := range []Levels{pathLevels, codeLevels} {
			comparison := newComparison(levels, everything)
			comparison.Add(label, []client.Entry{{Value: value, Confidence: confidence}, {Value: label, Confidence: confidence}})
			r := comparison.Report()
			if r.Top1 > r.Top3 || r.Top3 > 1 || !(r.CalibrationError >= 0 && r.CalibrationError <= 1) {
				t.Errorf("%+v", r)
			}
			for i := 1; i < len(r.Levels); i++ {
				if r.Levels[i].Right > r.Levels[i-1].Right {
					t.Errorf("level %d is more often right than the one above: %+v", i+1, r.Levels)
				}
			}
		}
	})
}
