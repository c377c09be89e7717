package learn

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

func TestLowerBound(t *testing.T) {
	for _, tt := range []struct {
		name      string
		right, of int64
		level     float64
		want      float64 // of scipy.stats.beta.ppf(1-level, right, of-right+1)
	}{
		{"nothing", 0, 0, 0.95, 0},
		{"none right", 0, 10, 0.95, 0},
		{"all of one", 1, 1, 0.95, 0.05},
		{"one too few for 95%", 58, 58, 0.95, 0.9496607},
		{"enough for 95%", 59, 59, 0.95, 0.9504924},
		{"all of 300", 300, 300, 0.95, 0.9900639},
		{"8 of 300 wrong", 292, 300, 0.95, 0.9523999},
		{"8 of 300 wrong, surer", 292, 300, 0.99, 0.9428964},
		{"half", 50, 100, 0.95, 0.4136217},
		{"one right", 1, 100, 0.95, 0.0005128},
		{"a million", 990_000, 1_000_000, 0.95, 0.9898348},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := LowerBound(tt.right, tt.of, tt.level); math.Abs(got-tt.want) > 1e-7 {
				t.Errorf("got %.7f, want %.7f", got, tt.want)
			}
		})
	}
}

// Of samples of a known share, at most 5% have a higher bound. The sum of the terms is the distribution.
func TestLowerBoundHolds(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const samples = 2000
	for _, share := range []float64{0.5, 0.95, 0.99} {
		higher := 0
		for range samples {
			right := int64(0)
			for range 300 {
				if random.Float64() < share {
					right++
				}
			}
			if LowerBound(right, 300, 0.95) > share {
				higher++
			}
		}
		if higher > samples*6/100 {
			t.Errorf("share %v: %d of %d bounds are higher", share, higher, samples)
		}
	}
}

// A few wrong answers among the surest do not hide the many right ones below them.
func TestSure(t *testing.T) {
	const right, wrong = true, false
	many := func(n int, isEqual bool, confidence float64) []answered {
		list := make([]answered, n)
		for i := range list {
			list[i] = answered{confidence, isEqual, true}
		}
		return list
	}
	join := func(lists ...[]answered) (all []answered) {
		for _, list := range lists {
			all = append(all, list...)
		}
		return all
	}
	for _, tt := range []struct {
		name      string
		list      []answered
		precision float64
		want      float64
		ok        bool
	}{
		{"none", nil, 0.95, 0, false},
		{"one too few", many(17, right, 0.9), 0.95, 0, false},
		{"enough", many(18, right, 0.9), 0.95, 0.9, true},
		{"a wrong one first", join(many(1, wrong, 0.99), many(200, right, 0.9)), 0.95, 0.9, true},
		{"wrong ones below", join(many(200, right, 0.9), many(20, wrong, 0.5)), 0.95, 0.9, true},
		{"equal confidences are one step", join(many(100, right, 0.9), many(100, wrong, 0.9)), 0.4, 0.9, true},
		{"no precision", many(10, wrong, 0.5), 0, 0.5, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			m := &Model{About: About{Agreements: agreements(tt.list)}}
			if got, ok := m.Sure(tt.precision); got != tt.want || ok != tt.ok {
				t.Errorf("got %v, %v", got, ok)
			}
		})
	}
}

// The steps are few, and the sums of all rows above them.
func TestAgreements(t *testing.T) {
	var list []answered
	for i := range 10_000 {
		list = append(list, answered{1 - float64(i)/10_000, i%10 > 0, i%20 > 0})
	}
	all := agreements(list)
	if len(all) != mostAgreements || !reflect.DeepEqual(all[0], Agreement{1 - 39.0/10_000, 40, 36, 38}) ||
		all[len(all)-1].Rows != 10_000 || all[len(all)-1].Equal != 9_000 || all[len(all)-1].Right != 9_500 {
		t.Errorf("%d steps: %v", len(all), all)
	}
}

// Two categories that one label allows are no rivals.
func TestEvidenceOfOneLabel(t *testing.T) {
	tree := &taxonomy.Taxonomy{Categories: []taxonomy.Category{{Parent: -1}, {Parent: -1}}}
	list := func(second int32) []candidate {
		return []candidate{{category: 0, class: 0, classShare: 0.5, utility: 1}, {category: 1, class: second, classShare: 0.5, utility: 0.9}}
	}
	together, apart := evidence(tree, list(0), 1, 1)[0], evidence(tree, list(1), 1, 1)[0]
	for _, variable := range []int{trustClass, trustRival, trustLead} {
		if together[variable] <= apart[variable] {
			t.Errorf("variable %d is %v with one label, %v with two", variable, together[variable], apart[variable])
		}
	}
	if unlabelled := evidence(tree, []candidate{{category: 0, class: noClass, utility: 1}, {category: 1, class: noClass, utility: 0.9}}, 1, 1)[0]; unlabelled[trustRival] == mostMargin {
		t.Error("categories without a label are taken for those of one label")
	}
}
