// Package money counts what requests cost, without errors of rounding.
package money

import (
	"errors"
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// Amount is an amount of money in billionths of the unit of a currency. In JSON it is a number of units.
type Amount int64

const (
	unit     = 1_000_000_000
	cent     = unit / 100
	decimals = 9
)

// ErrAmount says that a text is no amount.
var ErrAmount = errors.New("an amount of money is a number from 0 with at most nine decimals, such as 0.002")

// Parse reads a decimal number of units, such as "0.002". The error is ErrAmount.
func Parse(text string) (Amount, error) {
	whole, fraction, hasPoint := strings.Cut(text, ".")
	if len(fraction) > decimals || hasPoint && fraction == "" || strings.ContainsAny(whole+fraction, "+-") {
		return 0, ErrAmount
	}
	units, err := strconv.ParseInt(whole, 10, 64)
	parts, errParts := strconv.ParseInt(fraction+strings.Repeat("0", decimals-len(fraction)), 10, 64)
	if err != nil || errParts != nil || units > (math.MaxInt64-parts)/unit {
		return 0, ErrAmount
	}
	return Amount(units*unit + parts), nil
}

// String is the exact number of units, with two decimals at least.
func (a Amount) String() string {
	fraction := strconv.FormatInt(unit+int64(a)%unit, 10)[1:]
	return strconv.FormatInt(int64(a)/unit, 10) + "." + fraction[:2] + strings.TrimRight(fraction[2:], "0")
}

// Plus is the sum of two amounts; the largest Amount if it is larger.
func (a Amount) Plus(b Amount) Amount {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Rounded is the number of units to the cent, half a cent up; amounts of less than a cent are exact.
func (a Amount) Rounded() string {
	if a < cent {
		return a.String()
	}
	return Amount((uint64(a) + cent/2) / cent * cent).String()
}

// Units is the number of units, as near as a float64 can be.
func (a Amount) Units() float64 { return float64(a) / unit }

// MarshalJSON encodes a number of units.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON decodes a number of units.
func (a *Amount) UnmarshalJSON(text []byte) (err error) {
	*a, err = Parse(string(text))
	return err
}

// Price is what a request costs. The zero value stands for an unknown price.
type Price struct {
	Request  Amount `json:"request"`
	Currency string `json:"currency"` // such as EUR
}

// Of is the cost of requests; the largest Amount if it is larger.
func (p Price) Of(requests int64) Amount {
	high, low := bits.Mul64(uint64(p.Request), uint64(max(requests, 0)))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return Amount(low)
}

// Requests is how many requests an amount pays for; without a price it pays for any number.
func (p Price) Requests(a Amount) int64 {
	if p.Request == 0 {
		return math.MaxInt64
	}
	return int64(a / p.Request)
}

// Text is an amount with the currency, to the cent.
func (p Price) Text(a Amount) string { return a.Rounded() + " " + p.Currency }

// Cost is what the requests of a run cost, by a price for each attempt, whether it was answered or not: what a failed attempt
// costs depends on the service, so that this is the most that the run can have cost.
type Cost struct {
	Price Price  `json:"price"`
	Spent Amount `json:"spent"` // by this start
	Total Amount `json:"total"` // by all starts since the run was complete before, without those in another currency
	Saved Amount `json:"saved"` // by equal requests, answers that other runs have stored, and answers of a model
}
