package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Title names an output and the service that has answered, if it is known.
func Title(output, service string) string {
	switch service {
	case "":
		return output
	case "embedded":
		service = "the embedded service"
	}
	return output + " from " + service
}

// Count is a number with commas between thousands.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Number is a value in few characters.
func Number(v float64) string {
	switch {
	case math.IsNaN(v):
		return "none"
	case math.IsInf(v, 0):
		return "no limit"
	case math.Abs(v) >= 100 || v == math.Trunc(v):
		return Count(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'f', 1, 64)
}

// Percent is a share from 0 to 1. A share that is not 0 or 1 does not look like one of these.
func Percent(share float64) string {
	switch p := 100 * share; {
	case p > 0 && p < 0.05:
		return "<0.1%"
	case p < 100 && p >= 99.95:
		return ">99.9%"
	default:
		return strconv.FormatFloat(p, 'f', 1, 64) + "%"
	}
}

// Share is n as a part of a whole, from 0 to 1; 0 of a whole of 0.
func Share(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Duration is a duration in at most two units.
func Duration(d time.Duration) string {
	switch {
	case d >= 100*time.Hour:
		return fmt.Sprintf("%d days", int(d.Hours()/24))
	case d >= time.Hour:
		d = d.Round(time.Minute)
	case d >= time.Second:
		d = d.Round(time.Second)
	default:
		d = d.Round(time.Millisecond)
	}
	text := d.String()
	for _, zero := range []string{"m0s", "h0m"} {
		if strings.HasSuffix(text, zero) {
			text = strings.TrimSuffix(text, zero[1:])
		}
	}
	return text
}
