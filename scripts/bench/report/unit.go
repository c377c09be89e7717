package report

import (
	"strconv"
	"strings"
)

// Unit is the unit and the format of a figure.
type Unit struct {
	name   string
	digits int     // after the decimal point
	scale  float64 // the divisor of a figure; 0 for 1
}

// The units. Times are measured in seconds, sizes in bytes.
var (
	Ratio        = Unit{digits: 2}
	Percent      = Unit{name: "%", scale: 0.01}
	Count        = Unit{}
	Decimal      = Unit{digits: 1}
	PerSecond    = Unit{name: "/s"}
	MBPerSecond  = Unit{name: " MB/s", scale: 1e6}
	Seconds      = Unit{name: " s", digits: 1}
	Milliseconds = Unit{name: " ms", digits: 1, scale: 1e-3}
	Microseconds = Unit{name: " µs", digits: 1, scale: 1e-6}
	MiB          = Unit{name: " MiB", digits: 1, scale: 1 << 20}
)

// Format writes a figure with its unit.
func (u Unit) Format(v float64) string { return u.number(v) + u.name }

func (u Unit) number(v float64) string {
	if u.scale != 0 {
		v /= u.scale
	}
	return grouped(strconv.FormatFloat(v, 'f', u.digits, 64))
}

// grouped sets commas between thousands: 1234567.8 is 1,234,567.8.
func grouped(number string) string {
	digits, fraction, hasFraction := strings.Cut(number, ".")
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	if hasFraction {
		digits += "." + fraction
	}
	return sign + digits
}
