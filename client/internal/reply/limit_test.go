package reply

import (
	"net/http"
	"strings"
	"testing"
	"time"
)

var testNow = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestLimitOf(t *testing.T) {
	header := func(pairs ...string) http.Header {
		h := http.Header{}
		for i := 0; i < len(pairs); i += 2 {
			h.Set(pairs[i], pairs[i+1])
		}
		return h
	}
	for _, tt := range []struct {
		name   string
		header http.Header
		want   Limit
	}{
		{"nothing", header(), Limit{Remaining: -1}},
		{"IETF, newer form", header("RateLimit-Policy", `"default";q=100;w=60`, "RateLimit", `"default";r=50;t=30`), Limit{100.0 / 60, 50, 30 * time.Second}},
		{"IETF, older form", header("RateLimit-Policy", "100;w=10", "RateLimit", "limit=100, remaining=0, reset=7"), Limit{10, 0, 7 * time.Second}},
		{"tightest of policies", header("RateLimit-Policy", `"burst";q=100;w=1, "minute";q=600;w=60`), Limit{10, -1, 0}},
		{"a day's policy is no rate", header("RateLimit-Policy", `"burst";q=20;w=1, "daily";q=10000;w=86400`, "RateLimit", `"daily";r=9000;t=500`), Limit{20, 9000, 500 * time.Second}},
		{"separate fields", header("RateLimit-Limit", "100", "RateLimit-Remaining", "3", "RateLimit-Reset", "9"), Limit{0, 3, 9 * time.Second}},
		{"X-, seconds left", header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "12"), Limit{0, 0, 12 * time.Second}},
		{"X-, Unix time", header("X-RateLimit-Remaining", "0", "X-RateLimit-Reset", "1772366430"), Limit{0, 0, 31 * time.Second}},
		{"X-, Unix time in milliseconds", header("X-RateLimit-Reset", "1772366430000"), Limit{0, -1, 31 * time.Second}},
		{"X-, Unix time gone by", header("X-RateLimit-Reset", "1772366000"), Limit{0, -1, 0}},
		{"nonsense", header("RateLimit-Policy", `"x";q=a;w=-1`, "RateLimit", "r=;;t=1e999", "X-RateLimit-Reset", "soon", "X-RateLimit-Remaining", "-4"), Limit{Remaining: -1}},
		{"policy without a window", header("RateLimit-Policy", `"x";q=100`), Limit{Remaining: -1}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := LimitOf(tt.header, testNow); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// Lines with one name are one list, the tightest limit counts, and text that cannot be parsed is ignored.
func TestLimitOfFamilies(t *testing.T) {
	const unknown = -1
	for _, tt := range []struct {
		name, lines string
		want        Limit
	}{
		{"the tightest first", `RateLimit: "burst";r=0;t=5, "daily";r=900;t=80000`, Limit{0, 0, 5 * time.Second}},
		{"the tightest last", `RateLimit: "daily";r=900;t=80000, "burst";r=0;t=5`, Limit{0, 0, 5 * time.Second}},
		{"both used up", `RateLimit: "burst";r=0;t=5, "daily";r=0;t=800`, Limit{0, 0, 800 * time.Second}},
		{"two lines", "RateLimit: \"daily\";r=900;t=80000\nRateLimit: \"burst\";r=3;t=5", Limit{0, 3, 5 * time.Second}},
		{"tokens as names", `RateLimit: burst;r=2;t=5, daily;r=900;t=80000`, Limit{0, 2, 5 * time.Second}},
		{"parameters in another order, with others", `RateLimit: "a";t=5;pk=:YTtiLGM=:;r=0, "b";pk="x;r=9";t=9;r=1`, Limit{0, 0, 5 * time.Second}},
		{"spaces", `RateLimit:  "a" ; r = 4 ; t = 5 `, Limit{0, 4, 5 * time.Second}},
		{"a separator in a name", `RateLimit: "a;r=0, b";r=7;t=9`, Limit{0, 7, 9 * time.Second}},
		{"an escaped quote in a name", `RateLimit: "a\";r=0";r=7;t=9`, Limit{0, 7, 9 * time.Second}},
		{"a name without its end", `RateLimit: "a;r=0;t=5`, Limit{0, unknown, 0}},
		{"empty items", `RateLimit: , ,"a";r=7;t=9;,;;,`, Limit{0, 7, 9 * time.Second}},
		{"a window without a count", `RateLimit: "a";t=5, "b";r=7;t=9`, Limit{0, 7, 9 * time.Second}},
		{"the older form in lines", "RateLimit: limit=100\nRateLimit: remaining=4, reset=5", Limit{0, 4, 5 * time.Second}},
		{"a Unix time as t", `RateLimit: "a";r=0;t=1772366430`, Limit{0, 0, 31 * time.Second}},

		{"policies in two lines", "RateLimit-Policy: \"burst\";q=100;w=1\nRateLimit-Policy: \"minute\";q=600;w=60", Limit{10, unknown, 0}},
		{"a policy in another order", `RateLimit-Policy: "a";w=10;q=50`, Limit{5, unknown, 0}},
		{"a policy with a separator in its name", `RateLimit-Policy: "a,b;q=1";q=50;w=10`, Limit{5, unknown, 0}},
		{"a policy of bytes", `RateLimit-Policy: "bw";q=50;qu="content-bytes";w=10, "rq";q=70;qu="requests";w=10`, Limit{7, unknown, 0}},
		{"policies as the limit", "RateLimit-Limit: 100, 100;w=50;comment=\"a, b\"", Limit{2, unknown, 0}},
		{"policies as the limit, X-", "X-RateLimit-Limit: 100, 100;w=50, 30;w=10", Limit{2, unknown, 0}},
		{"policies with fractions", "RateLimit-Policy: 100.0;w=50.0", Limit{2, unknown, 0}},
		{"policies that are none", "RateLimit-Policy: ;w=1, 0;w=1, -5;w=1, x;w=1, 5;w=0, 5;w=-1, 99999999999999999999;w=1e999, NaN;w=1", Limit{0, unknown, 0}},

		{"a count with a fraction", "X-RateLimit-Remaining: 59.0", Limit{0, 59, 0}},
		{"a fraction of a request", "X-RateLimit-Remaining: 0.9", Limit{0, 0, 0}},
		{"a negative count", "X-RateLimit-Remaining: -4", Limit{0, unknown, 0}},
		{"a count that overflows", "RateLimit-Remaining: 99999999999999999999", Limit{0, 1 << 53, 0}},
		{"a count that is no number", "RateLimit-Remaining: NaN\nX-RateLimit-Remaining: 5", Limit{0, 5, 0}},
		{"counts in a list", "RateLimit-Remaining: 900, 0\nRateLimit-Reset: 80000, 5", Limit{0, 0, 5 * time.Second}},
		{"counts in lines", "RateLimit-Remaining: 0\nRateLimit-Remaining: 900\nRateLimit-Reset: 5\nRateLimit-Reset: 80000", Limit{0, 0, 5 * time.Second}},
		{"counts with one reset", "RateLimit-Remaining: 900, 0;w=1\nRateLimit-Reset: 7", Limit{0, 0, 7 * time.Second}},
		{"X-Rate-Limit", "X-Rate-Limit-Remaining: 0\nX-Rate-Limit-Reset: 1772366430", Limit{0, 0, 31 * time.Second}},
		{"names in lower case", "x-ratelimit-remaining: 3\nx-ratelimit-reset: 9", Limit{0, 3, 9 * time.Second}},

		{"a date of HTTP", "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: Sun, 01 Mar 2026 12:00:30 GMT", Limit{0, 0, 30 * time.Second}},
		{"a date of RFC 3339", "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 2026-03-01T13:00:30.5+01:00", Limit{0, 0, 30500 * time.Millisecond}},
		{"a date gone by", "X-RateLimit-Reset: Sun, 01 Mar 2026 11:00:30 GMT", Limit{0, unknown, 0}},
		{"a date in the far future", "X-RateLimit-Reset: 9999-01-01T00:00:00Z", Limit{0, unknown, 365 * 24 * time.Hour}},
		{"seconds with a fraction", "X-RateLimit-Reset: 1.5", Limit{0, unknown, 1500 * time.Millisecond}},
		{"a Unix time with a fraction", "X-RateLimit-Reset: 1772366430.5", Limit{0, unknown, 30500 * time.Millisecond}},
		{"a Unix time in microseconds", "X-RateLimit-Reset: 1772366430000000", Limit{0, unknown, 31 * time.Second}},
		{"milliseconds left", "X-RateLimit-Remaining: 0\nX-RateLimit-Reset: 60000", Limit{0, 0, time.Minute}},
		{"milliseconds left, with a fraction", "X-Rate-Limit-Reset: 4512.25", Limit{0, unknown, 4512250 * time.Microsecond}},
		{"milliseconds left of a day", "X-RateLimit-Reset: 43200000", Limit{0, unknown, 12 * time.Hour}},
		{"milliseconds of several windows", "X-RateLimit-Remaining: 900, 0\nX-RateLimit-Reset: 60000, 5000", Limit{0, 0, 5 * time.Second}},
		{"seconds of an hour", "X-RateLimit-Reset: 3600", Limit{0, unknown, time.Hour}},
		{"seconds by the standard", "RateLimit-Reset: 80000", Limit{0, unknown, 80000 * time.Second}},
		{"Unix time in nanoseconds", "X-RateLimit-Reset: 1772366430000000000", Limit{0, unknown, 31 * time.Second}},
		{"resets that are none", "RateLimit-Reset: -5, soon,, NaN", Limit{0, unknown, 0}},
		{"a reset without end", "RateLimit-Reset: Inf", Limit{0, unknown, 365 * 24 * time.Hour}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := LimitOf(headerOf(tt.lines), testNow); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

// headerOf makes a header of lines such as "Name: value".
func headerOf(lines string) http.Header {
	h := http.Header{}
	for line := range strings.SplitSeq(lines, "\n") {
		name, value, _ := strings.Cut(line, ": ")
		h.Add(name, value)
	}
	return h
}
