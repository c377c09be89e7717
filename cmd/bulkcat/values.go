package main

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// rateValue is the value of a flag such as 10/s, in requests a second. Zero is auto: the rate is learned. Infinity is no
// limit.
type rateValue float64

func (v *rateValue) Set(text string) error {
	if text == "auto" {
		*v = 0
		return nil
	}
	r, err := parseRate(text)
	*v = rateValue(r)
	return err
}

func (v *rateValue) String() string {
	switch {
	case *v == 0:
		return "auto"
	case math.IsInf(float64(*v), 1):
		return "0"
	}
	return strconv.FormatFloat(float64(*v), 'g', -1, 64) + "/s"
}

func (*rateValue) Type() string { return "RATE" }

// parseRate parses a rate such as "10/s", "600/m", "36000/h", "864000/d", or "10", which is per second, to requests a second.
// "0" is infinity, no limit.
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

// paramValue has the names of the parameters: NAME, or KIND=NAME of one kind, several with a comma between.
type paramValue struct{ website, product *string }

func (v paramValue) Set(text string) error {
	for part := range strings.SplitSeq(text, ",") {
		kind, name, ofKind := strings.Cut(part, "=")
		if !ofKind {
			name = part
		}
		switch {
		case name == "":
			return fmt.Errorf("%q has no name", text)
		case !ofKind:
			*v.website, *v.product = name, name
		case kind == string(client.Website):
			*v.website = name
		case kind == string(client.Product):
			*v.product = name
		default:
			return fmt.Errorf("%q must be %s or %s", kind, client.Website, client.Product)
		}
	}
	return nil
}

func (paramValue) String() string { return "" }

func (paramValue) Type() string { return "NAME" }

// deadlineValue is a time of day such as 07:00, or a duration such as 8h.
type deadlineValue string

func (v *deadlineValue) Set(text string) error {
	*v = deadlineValue(text)
	_, err := account.ParseFinishBy(text, time.Now())
	return err
}

func (v *deadlineValue) String() string { return string(*v) }

func (*deadlineValue) Type() string { return "TIME" }

// of is the deadline of a run that begins at a time; zero if there is none.
func (v *deadlineValue) of(began time.Time) account.FinishBy {
	d, _ := account.ParseFinishBy(string(*v), began) // checked by Set
	return d
}

// ageValue is a duration, which may be in days.
type ageValue time.Duration

func (v *ageValue) Set(text string) error {
	if days, ok := strings.CutSuffix(text, "d"); ok {
		n, err := strconv.ParseFloat(days, 64)
		if err == nil && n >= 0 && n < 1e5 {
			*v = ageValue(n * float64(24*time.Hour))
			return nil
		}
	}
	if text == "0" {
		*v = 0
		return nil
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not an age: write 30d, 12h or 90m", text)
	}
	*v = ageValue(d)
	return nil
}

func (v *ageValue) String() string {
	if *v == 0 {
		return "0"
	}
	return time.Duration(*v).String()
}

func (*ageValue) Type() string { return "AGE" }

// listValue is a list with commas between. A flag that is given several times adds to the list.
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

// confidenceValue is a number such as 0.5, or 50%. Some services give more than 1.
type confidenceValue float64

func (v *confidenceValue) Set(text string) error {
	number, isPercent := strings.CutSuffix(text, "%")
	x, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return fmt.Errorf("%q is no confidence: write 0.5 or 50%%", text)
	}
	if isPercent {
		x /= 100
	}
	*v = confidenceValue(x)
	return nil
}

func (v *confidenceValue) String() string { return strconv.FormatFloat(float64(*v), 'g', -1, 64) }

func (*confidenceValue) Type() string { return "X" }

// amountValue is a flag of an amount of money.
type amountValue money.Amount

func (v *amountValue) Set(text string) error {
	a, err := money.Parse(text)
	*v = amountValue(a)
	return err
}

func (v *amountValue) String() string {
	if *v == 0 {
		return "0"
	}
	return money.Amount(*v).String()
}

func (*amountValue) Type() string { return "AMOUNT" }
