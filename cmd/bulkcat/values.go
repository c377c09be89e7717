package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"github.com/bulkcat/bulkcat/client"
)

// rateValue is a flag such as 10/s.
type rateValue rate.Limit

func (v *rateValue) Set(text string) error {
	r, err := client.ParseRate(text)
	*v = rateValue(r)
	return err
}

func (v *rateValue) String() string {
	if !v.limited() {
		return "0"
	}
	return strconv.FormatFloat(float64(*v), 'g', -1, 64) + "/s"
}

func (*rateValue) Type() string { return "RATE" }

func (v *rateValue) limited() bool { return rate.Limit(*v) != rate.Inf }

// ageValue is a duration that also knows days, as ages of answers are counted in.
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
