package main

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// value is a flag with functions that parse and show its text.
type value[T any] struct {
	to    *T
	unit  string // in the help
	parse func(text string) (T, error)
	show  func(T) string
}

func (v value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.to = parsed
	}
	return err
}

func (v value[T]) String() string { return v.show(*v.to) }

func (v value[T]) Type() string { return v.unit }

// rateValue is a flag such as 10/s, in requests per second. Zero is auto: the rate is learned. Infinity is no limit.
func rateValue(to *float64) pflag.Value {
	return value[float64]{to, "RATE", func(text string) (float64, error) {
		if text == "auto" {
			return 0, nil
		}
		return parseRate(text)
	}, rateText}
}

// pageRateValue is a rate that cannot be learned.
func pageRateValue(to *float64) pflag.Value {
	return value[float64]{to, "RATE", func(text string) (float64, error) {
		if text == "auto" {
			return 0, errors.New("there is nothing to learn a rate from: write 20/s, or 0 for no limit")
		}
		return parseRate(text)
	}, rateText}
}

func rateText(r float64) string {
	switch {
	case r == 0:
		return "auto"
	case math.IsInf(r, 1):
		return "0"
	}
	return strconv.FormatFloat(r, 'g', -1, 64) + "/s"
}

// parseRate parses a rate such as "10/s", "600/m", "36000/h", "864000/d", or "10", which is per second. The result is in
// requests per second; infinity, which is no limit, for "0".
func parseRate(text string) (float64, error) {
	number, unit, _ := strings.Cut(strings.ReplaceAll(text, " ", ""), "/")
	seconds, ok := map[string]float64{"": 1, "s": 1, "m": 60, "h": 3600, "d": 86400}[unit]
	n, err := strconv.ParseFloat(number, 64)
	if err != nil || !ok || !(n >= 0 && n <= 1e9) {
		return 0, fmt.Errorf("%q is not a rate: write 10/s, 600/m, 36000/h, or 0 for no limit", text)
	}
	if n == 0 {
		return math.Inf(1), nil
	}
	return n / seconds, nil
}

// setParams sets the names of parameters from a text: NAME for both kinds, or KIND=NAME for one kind, separated by commas.
func (f *serviceFlags) setParams(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		kind, name, ofKind := strings.Cut(part, "=")
		if !ofKind {
			name = part
		}
		switch {
		case name == "":
			return fmt.Errorf("%q has no name", text)
		case !ofKind:
			f.WebsiteParam, f.ProductParam = name, name
		case kind == string(client.Website):
			f.WebsiteParam = name
		case kind == string(client.Product):
			f.ProductParam = name
		default:
			return fmt.Errorf("%q must be %s or %s", kind, client.Website, client.Product)
		}
	}
	return nil
}

// deadlineValue is a time of day such as 07:00, or a duration such as 8h. account.ParseFinishBy reads the text again when the
// run begins.
func deadlineValue(to *string) pflag.Value {
	return value[string]{to, "TIME", func(text string) (string, error) {
		_, err := account.ParseFinishBy(text, time.Now())
		return text, err
	}, strings.Clone}
}

// ageValue is a duration, which may be in days.
func ageValue(to *time.Duration) pflag.Value {
	return value[time.Duration]{to, "AGE", parseAge, func(d time.Duration) string {
		if d == 0 {
			return "0"
		}
		return d.String()
	}}
}

func parseAge(text string) (time.Duration, error) {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err == nil && n >= 0 && n < 1e5 {
			return time.Duration(n * float64(24*time.Hour)), nil
		}
	}
	if text == "0" {
		return 0, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return 0, fmt.Errorf("%q is not an age: write 30d, 12h or 90m", text)
	}
	return d, nil
}

// listValue is a flag with a list that is separated by commas. A flag that is given several times adds to the list.
type listValue struct {
	list  *string // the default until the flag is given
	given bool
}

func (v *listValue) Set(text string) error {
	if v.given {
		text = *v.list + "," + text
	}
	*v.list, v.given = text, true
	return nil
}

func (v *listValue) String() string { return *v.list }

func (*listValue) Type() string { return "string" }

// confidenceValue is a number such as 0.5, or 50%. It may exceed 1, because some services return confidences above 1.
func confidenceValue(to *float64) pflag.Value {
	return value[float64]{to, "X", func(text string) (float64, error) {
		x, err := parseShare(text)
		if err != nil {
			err = fmt.Errorf("%q is no confidence: write 0.5 or 50%%", text)
		}
		return x, err
	}, func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }}
}

// shareValue is a share such as 95% or 0.95.
func shareValue(to *float64) pflag.Value {
	return value[float64]{to, "SHARE", func(text string) (float64, error) {
		x, err := parseShare(text)
		if err != nil || !(x >= 0 && x <= 1) {
			err = fmt.Errorf("%q is no share from 0 to 1: write 0.95 or 95%%", text)
		}
		return x, err
	}, func(x float64) string { return strconv.FormatFloat(x*100, 'g', 10, 64) + "%" }}
}

// parseShare parses a number, or a percentage.
func parseShare(text string) (float64, error) {
	number, isPercent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if isPercent {
		x /= 100
	}
	return x, err
}

// amountValue is an amount of money.
func amountValue(to *money.Amount) pflag.Value {
	return value[money.Amount]{to, "AMOUNT", money.Parse, func(a money.Amount) string {
		if a == 0 {
			return "0"
		}
		return a.String()
	}}
}
