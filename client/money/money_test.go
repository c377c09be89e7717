package money

import (
	"encoding/json"
	"math"
	"testing"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]struct {
		amount         Amount
		exact, rounded string
	}{
		"0":                    {0, "0.00", "0.00"},
		"0.002":                {2_000_000, "0.002", "0.002"},
		"12.345":               {12_345_000_000, "12.345", "12.35"},
		"12.3449":              {12_344_900_000, "12.3449", "12.34"},
		"0.000000001":          {1, "0.000000001", "0.000000001"},
		"50":                   {50_000_000_000, "50.00", "50.00"},
		"007.50":               {7_500_000_000, "7.50", "7.50"},
		"9223372036.854775807": {math.MaxInt64, "9223372036.854775807", "9223372036.85"},
	} {
		a, err := Parse(text)
		if err != nil || a != want.amount || a.String() != want.exact || a.Rounded() != want.rounded {
			t.Errorf("%s: %d, %v, %s, %s; want %v", text, a, err, a, a.Rounded(), want)
		}
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "+1", "1,5", "1e3", "0.0000000001", "9223372036.854775808", "NaN", " 1", "0x1", "1.-5", "EUR"} {
		if a, err := Parse(text); err == nil {
			t.Errorf("%q was read as %v", text, a)
		}
	}
}

func TestPrices(t *testing.T) {
	p := Price{2_000_000, "EUR"}
	if got := p.Text(p.Of(6173)); got != "12.35 EUR" {
		t.Errorf("6173 requests cost %s", got)
	}
	if got := p.Requests(50 * unit); got != 25_000 {
		t.Errorf("50 EUR pay for %d requests", got)
	}
	if got := p.Of(math.MaxInt64); got != math.MaxInt64 {
		t.Errorf("more than there is costs %d", got)
	}
	if got := p.Of(-1); got != 0 {
		t.Errorf("fewer than no requests cost %d", got)
	}
}

func FuzzAmount(f *testing.F) {
	for _, text := range []string{"0", "0.002", "12.345", "9223372036.854775807", "1e9", "-0"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := Parse(text)
		if err != nil {
			return
		}
		encoded, err := json.Marshal(a)
		if err != nil {
			t.Fatal(err)
		}
		var back Amount
		if err := json.Unmarshal(encoded, &back); err != nil || back != a || a < 0 {
			t.Errorf("%q became %d, %s, %d, %v", text, a, encoded, back, err)
		}
		a.Rounded()
	})
}
