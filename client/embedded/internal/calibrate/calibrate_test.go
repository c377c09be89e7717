package main

import (
	"io"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// The fit finds the coefficients by which the samples were drawn.
func TestImprove(t *testing.T) {
	want := calibration{-2, 1.5, 0, 3, 0.5}
	random := rand.New(rand.NewPCG(1, 1))
	var set []entry
	for range 50_000 {
		e := entry{weight: 1, evidence: [coefficients]float64{1}}
		for i := 1; i < coefficients; i++ {
			e.evidence[i] = random.Float64()
		}
		e.right = random.Float64() < want.probability(e.evidence)
		set = append(set, e)
	}
	sets := [][]entry{set}
	var fitted calibration
	for range rounds {
		fitted = improve(fitted, sets, texts)
	}
	for i := range want {
		if math.Abs(fitted[i]-want[i]) > 0.15 || i > 0 && fitted[i] < 0 {
			t.Errorf("the coefficient %s is %.3f, want %.3f", names[i], fitted[i], want[i])
		}
	}
	if least := loss(want, sets); loss(fitted, sets) > least || loss(calibration{}, sets) <= least {
		t.Errorf("loss %.4f fitted, %.4f of the right coefficients, %.4f of none", loss(fitted, sets), least, loss(calibration{}, sets))
	}
}

// The command reads and writes confidence.go as it is.
func TestCalibrationsInTheSource(t *testing.T) {
	content, err := os.ReadFile("../../../../" + source)
	if err != nil {
		t.Fatal(err)
	}
	text := string(content)
	for _, k := range kinds {
		present, err := parseCalibration(text, k.fit)
		if err != nil {
			t.Fatal(err)
		}
		if replaceCalibration(text, k.fit, present) != text {
			t.Errorf("%s changes when it is written as it is", k.fit)
		}
		changed := replaceCalibration(text, k.fit, calibration{0.125})
		if again, err := parseCalibration(changed, k.fit); err != nil || again[0] != 0.125 {
			t.Errorf("%s is %v after writing 0.125, %v", k.fit, again, err)
		}
	}
}

func TestIsRight(t *testing.T) {
	for _, tt := range []struct {
		name, path, label string
		want              bool
	}{
		{"the same path", "A > B", "A > B", true},
		{"below the path", "A > B > C", "A > B", true},
		{"above the path", "A", "A > B", false},
		{"a longer name", "A > Bx", "A > B", false},
		{"one of several", "C", "A|C", true},
		{"below a code", "541511", "5415", true},
		{"another code", "541611", "5415", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := isRight(tt.path, strings.Split(tt.label, "|")); got != tt.want {
				t.Errorf("got %t, want %t", got, tt.want)
			}
		})
	}
}

// The classifier's own samples of host names are read and fit.
func TestHostNames(t *testing.T) {
	t.Chdir("../../../..")
	k := kinds[3]
	var out strings.Builder
	if err := k.calibrate(t.TempDir(), false, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), "naics_hosts.tsv: 314 samples") || strings.Contains(out.String(), "NaN") {
		t.Errorf("got %s", &out)
	}
	if err := kinds[0].calibrate(t.TempDir(), false, io.Discard); err == nil {
		t.Error("no error without samples")
	}
}
