package expect

import (
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline/account"
)

type first = account.ByStatus[int64]

func TestEarly(t *testing.T) {
	for _, tt := range []struct {
		name   string
		expect string
		first  first
		all    int64
		want   string // the value; "" if the run goes on
	}{
		{"a share that is missed by far", "ok >= 95%", first{OK: 150, Empty: 50}, 0, "75% (150 of 200) so far"},
		{"too few records", "ok >= 95%", first{Empty: 199}, 0, ""},
		{"a share that chance explains", "ok >= 95%", first{OK: 185, Empty: 15}, 0, ""},
		{"the same share of more records", "ok >= 95%", first{OK: 18500, Empty: 1500}, 0, "92.5% (18500 of 20000) so far"},
		{"a share that is met", "ok >= 95%", first{OK: 400}, 0, ""},
		{"a share that the rest cannot save", "ok >= 95%", first{OK: 189, Empty: 11}, 210, "94.5% (189 of 200) so far"},
		{"a share that the rest may save", "ok >= 95%", first{OK: 188, Empty: 12}, 240, ""},
		{"a share that is exceeded", "invalid <= 1%", first{OK: 170, Invalid: 30}, 0, "15% (30 of 200) so far"},
		{"a share of blanks", "blank <= 5%", first{OK: 170, Blank: 30}, 0, "15% (30 of 200) so far"},
		{"none may be", "failed == 0%", first{OK: 199, Failed: 1}, 0, "0.5% (1 of 200) so far"},
		{"all have to be", "ok = 100%", first{OK: 199, Failed: 1}, 0, "99.5% (199 of 200) so far"},
		{"a number that is exceeded", "unanswered < 5", first{OK: 290, Rejected: 2, Failed: 2, Invalid: 1}, 0, "5 so far"},
		{"a number that may be reached", "ok >= 500", first{OK: 100, Empty: 100}, 0, ""},
		{"a number that cannot be reached", "ok >= 500", first{OK: 100, Empty: 100}, 599, "100 so far"},
		{"figures that are not judged", "rows >= 1000", first{OK: 1000}, 1000, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e, err := Parse(tt.expect)
			if err != nil {
				t.Fatal(err)
			}
			met, _ := Parse("empty <= 100%")
			got, broken := errors.AsType[*BrokenError](NewEarly([]Expectation{met, e}).Check(account.Statuses{ByStatus: tt.first}, tt.all))
			switch {
			case broken != (tt.want != ""):
				t.Errorf("got %+v", got)
			case broken && (len(got.Results) != 1 || got.Results[0].Value != tt.want || got.Results[0].Met || !got.Held):
				t.Errorf("got %+v, want %q", got, tt.want)
			}
		})
	}
}

// Chance seldom stops a run whose share is at the bound, and a run far from the bound ends soon.
func TestEarlyIsSure(t *testing.T) {
	stopped := func(bound string, share float64, records int) (at int64) {
		e, _ := Parse(bound)
		early, random, s := NewEarly([]Expectation{e}), rand.New(rand.NewPCG(1, uint64(share*1000))), account.Statuses{}
		for range records {
			if random.Float64() < share {
				s.OK++
			} else {
				s.Empty++
			}
			if early.Check(s, int64(records)) != nil {
				return s.Sum()
			}
		}
		return 0
	}
	for share := 0.901; share < 0.9505; share += 0.0005 { // 100 runs
		bound := "ok >= 90%"
		if at := stopped(bound, share, 20_000); at > 0 && at < 19_000 {
			t.Errorf("%v of the records are ok, and the run stopped after %d", share, at)
		}
	}
	if at := stopped("ok >= 90%", 0.8, 1_000_000); at == 0 || at > 1000 {
		t.Errorf("the run stopped after %d", at)
	}
}
