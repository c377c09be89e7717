package figures

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestWords(t *testing.T) {
	for want, got := range map[string]string{
		"a.csv": Title("a.csv", ""), "a.csv from the embedded service": Title("a.csv", "embedded"), "a.csv from https://x": Title("a.csv", "https://x"),
		"0": Count(0), "999": Count(999), "1,000": Count(1000), "1,234,567": Count(1234567), "-1,000": Count(-1000), "-100": Count(-100),
		"none": Number(math.NaN()), "no limit": Number(math.Inf(1)), "1.5": Number(1.5), "2": Number(2), "1,235": Number(1234.6), "-0.5": Number(-0.5),
		"<0.1%": Percent(0.0001), ">99.9%": Percent(0.9999), "100.0%": Percent(1), "0.0%": Percent(0), "12.3%": Percent(0.1234),
		"59s": Duration(59 * time.Second), "20m": Duration(20 * time.Minute), "1m5s": Duration(65 * time.Second), "1h": Duration(time.Hour), "1h10m": Duration(70 * time.Minute),
		"10h": Duration(10*time.Hour + 20*time.Second), "5 days": Duration(120 * time.Hour), "0s": Duration(0),
	} {
		if got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestBar(t *testing.T) {
	for name, tt := range map[string]struct {
		share   float64
		columns int
		blocks  bool
		want    string
	}{
		"nothing":      {0, 10, true, ""},
		"no room":      {1, -3, true, ""},
		"whole":        {1, 4, true, "████"},
		"eighths":      {0.4, 4, true, "█▋"},
		"visible":      {0.0001, 10, true, "▏"},
		"ASCII":        {0.5, 10, false, "#####"},
		"too small":    {0.0001, 10, false, ""},
		"above whole":  {7, 3, false, "###"},
		"not a number": {math.NaN(), 3, true, ""},
	} {
		if got := Bar(tt.share, tt.columns, tt.blocks); got != tt.want {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
	}
}

func TestScale(t *testing.T) {
	for _, tt := range []struct{ most, step, top float64 }{
		{0, 1, 1}, {math.NaN(), 1, 1}, {1, 0.5, 1}, {4, 1, 4}, {641, 200, 800}, {1986, 500, 2000}, {2000, 500, 2000}, {0.03, 0.01, 0.03}, {1e9, 5e8, 1e9},
	} {
		step, top := scale(tt.most)
		if math.Abs(step-tt.step) > 1e-9*tt.step || math.Abs(top-tt.top) > 1e-9*tt.top {
			t.Errorf("%v: marks of %v to %v, want %v to %v", tt.most, step, top, tt.step, tt.top)
		}
	}
}

func TestTicks(t *testing.T) {
	berlin := time.FixedZone("CET", 3600)
	from := time.Date(2026, 11, 25, 8, 12, 30, 0, berlin)
	for name, tt := range map[string]struct {
		ticks []Tick
		want  string
	}{
		"seconds":  {ClockTicks(from, from.Add(4*time.Second)), "08:12:30 08:12:31 08:12:32 08:12:33 08:12:34"},
		"a minute": {ClockTicks(from, from.Add(75*time.Second)), "08:12:30 08:13:00 08:13:30"},
		"an hour":  {ClockTicks(from, from.Add(time.Hour)), "08:15 08:30 08:45 09:00"},
		"two days": {ClockTicks(from, from.Add(48*time.Hour)), "12:00 Nov 26 12:00 Nov 27"},
		"a month":  {ClockTicks(from, from.Add(30*24*time.Hour)), "Dec 3 Dec 11 Dec 19"},
		"nothing":  {ClockTicks(from, from), ""},
		"elapsed":  {ElapsedTicks(25 * time.Minute), "0s 5m 10m 15m 20m 25m"},
	} {
		var texts []string
		last := -1.0
		for _, tick := range tt.ticks {
			texts = append(texts, tick.Text)
			if tick.At <= last || tick.At > 1 {
				t.Errorf("%s: a tick at %v after %v", name, tick.At, last)
			}
			last = tick.At
		}
		if got := strings.Join(texts, " "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

func TestDraw(t *testing.T) {
	d := draw(Chart{X: []float64{0, 0.2, 0.4, 0.8, 1}, Lines: []Line{{Values: []float64{1, 0.5, math.NaN(), 2}}}})
	if want := `d="M0.0 50.0H200.0V75.0H400.0M800.0 0.0H1000.0"`; string(d.Paths[0].D) != want {
		t.Errorf("a gap: %s, want %s", d.Paths[0].D, want)
	}
	d = draw(Chart{Title: "Requests", Unit: "a second", X: []float64{0, 0.5, 1}, Lines: []Line{
		{Name: "a", Area: true, Values: []float64{1, 1}, Cells: []string{"1/s", "7"}}, {Name: "b", Area: true, Values: []float64{1, 3}}, {Name: "limit", Values: []float64{900, 900}},
	}})
	if want := `d="M0.0 66.7H500.0V33.3H1000.0V83.3H500.0V83.3H0.0Z"`; string(d.Paths[1].D) != want {
		t.Errorf("an area below a limit that is far above: %s, want %s", d.Paths[1].D, want)
	}
	if want := "Requests, a second: a 1/s, b, limit"; d.Label != want {
		t.Errorf("label %q, want %q", d.Label, want)
	}
	if len(d.Grid) != 4 || d.Grid[0] != (Tick{1, "0"}) || d.Grid[3] != (Tick{0, "6"}) {
		t.Errorf("grid %+v", d.Grid)
	}
	var text strings.Builder
	if err := Templates().ExecuteTemplate(&text, "chart", Chart{Title: "<b>"}); err != nil || !strings.Contains(text.String(), "&lt;b&gt;") || !strings.Contains(text.String(), "Nothing yet") {
		t.Errorf("without values: %s, %v", text.String(), err)
	}
}
