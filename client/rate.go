package client

import (
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/time/rate"
)

// ParseRate parses a rate such as "10/s", "600/m", "36000/h", "864000/d", or "10", which is per second.
// "0" is rate.Inf, no limit.
func ParseRate(text string) (rate.Limit, error) {
	number, unit, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
	seconds, ok := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || !(n >= 0 && n <= 1e9) {
		return 0, fmt.Errorf("%q is not a rate: write 10/s, 600/m, 36000/h, or 0 for no limit", text)
	}
	if n == 0 {
		return rate.Inf, nil
	}
	return rate.Limit(n / seconds), nil
}
