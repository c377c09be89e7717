// Package money computes the cost of requests without rounding errors.
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

// ErrAmount says that a text is not an amount.
var ErrAmount = errors.New("an amount of money is a number from 0 with at most nine decimals, such as 0.002")

// Parse parses a decimal number of units, such as "0.002". The error is ErrAmount.
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

// String returns the exact number of units, with at least two decimals.
func (a Amount) String() string {
	fraction := strconv.FormatInt(unit+int64(a)%unit, 10)[1:]
	return strconv.FormatInt(int64(a)/unit, 10) + "." + fraction[:2] + strings.TrimRight(fraction[2:], "0")
}

// Plus returns the sum of two amounts, at most the largest Amount.
func (a Amount) Plus(b Amount) Amount {
	if a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}

// Rounded returns the number of units, rounded to the cent. Amounts of less than a cent are exact.
func (a Amount) Rounded() string {
	if a < cent {
		return a.String()
	}
	return Amount((uint64(a) + cent/2) / cent * cent).String()
}

// Units returns the number of units, rounded to a float64.
func (a Amount) Units() float64 { return float64(a) / unit }

// MarshalJSON encodes a number of units.
func (a Amount) MarshalJSON() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalJSON decodes a number of units.
func (a *Amount) UnmarshalJSON(text []byte) (err error) {
	*a, err = Parse(string(text))
	return err
}

// Price is the price of a request. The zero value is an unknown price.
type Price struct {
	Request  Amount `json:"request"`
	Currency string `json:"currency"` // such as EUR
}

// Of returns the cost of requests, at most the largest Amount.
func (p Price) Of(requests int64) Amount {
	high, low := bits.Mul64(uint64(p.Request), uint64(max(requests, 0)))
	if high > 0 || low > math.MaxInt64 {
		return math.MaxInt64
	}
	return Amount(low)
}

// Requests returns the number of requests that an amount pays for; math.MaxInt64 if the price is unknown.
func (p Price) Requests(a Amount) int64 {
	if p.Request == 0 {
		return math.MaxInt64
	}
	return int64(a / p.Request)
}

// Text returns an amount, Rounded, with the currency.
func (p Price) Text(a Amount) string { return a.Rounded() + " " + p.Currency }

// Cost is the cost of a run. Every attempt counts, answered or not, because some services charge failed attempts. So it is the
// most that the run can have cost.
type Cost struct {
	Price Price  `json:"price"`
	Spent Amount `json:"spent"` // by this start
	Total Amount `json:"total"` // by all starts since the run was last complete, except starts in another currency
	Saved Amount `json:"saved"` // by equal requests, answers that other runs have stored, and answers of a model
}
