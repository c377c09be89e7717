package figures

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Title returns a title with the output and the service; "" is an unknown service.
func Title(output, service string) string {
	switch service {
	case "":
		return output
	case "embedded":
		service = "the embedded service"
	}
	return output + " from " + service
}

// Counted is a number of things, such as "1 finding", "2 findings" or "0 retries".
func Counted[N int | int64](n N, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	if stem, ok := strings.CutSuffix(thing, "y"); ok {
		return fmt.Sprintf("%d %sies", n, stem)
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// Clipped cuts a text to a number of bytes.
func Clipped(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "..."
}

// longest is the maximum length of a text from the input or the service on a page, in characters.
const longest = 200

// Short cuts a text to 200 characters. It replaces control and format characters, which could reorder the line.
func Short(text string) string {
	return Cut(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || unicode.Is(unicode.Cf, r) {
			return utf8.RuneError
		}
		return r
	}, text), longest)
}

// Cut returns the first n characters of a text. If the text is longer, the last of them is "…".
func Cut(text string, n int) string {
	if runes := []rune(text); len(runes) > n {
		return string(runes[:n-1]) + "…"
	}
	return text
}

// Count formats a number with commas between thousands.
func Count(n int64) string {
	text := strconv.FormatInt(n, 10)
	for i := len(text) - 3; i > 0 && text[i-1] != '-'; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}

// Number formats a value: with one decimal if it is below 100 and not whole.
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

// Percent formats a share from 0 to 1, with one decimal. Only 0 is "0.0%", and only 1 is "100.0%".
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

// Share returns n / of, or 0 if of is 0.
func Share[N int64 | float64](n, of N) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// Duration formats a duration in at most two units.
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
