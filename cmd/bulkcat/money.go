package main

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/client/probe"
)

// priceFlags say what a request of the hosted service costs.
type priceFlags struct {
	money.Price
	flags *pflag.FlagSet // knows which flags were set
}

// get returns the price of the flags, or else the price of the profile; zero for none.
func (f *priceFlags) get(profile probe.Profile) (money.Price, error) {
	if profile.Price != "" && !f.flags.Changed("price") {
		amount, err := money.Parse(profile.Price.String())
		if err != nil {
			return money.Price{}, fmt.Errorf("--profile: price: %w", err)
		}
		if f.Request = amount; profile.Currency != "" && !f.flags.Changed("price-currency") {
			f.Currency = profile.Currency
		}
	}
	if f.Request == 0 {
		return money.Price{}, nil
	}
	if !isCurrency(f.Currency) {
		return money.Price{}, fmt.Errorf("--price-currency: %q must be a code such as EUR, or a sign", f.Currency)
	}
	return f.Price, nil
}

// isCurrency reports whether a text can follow an amount: one to eight letters or signs.
func isCurrency(text string) bool {
	n := 0
	for _, c := range text {
		if n++; c <= ' ' || c >= '0' && c <= '9' || c == '\ufffd' {
			return false
		}
	}
	return n > 0 && n <= 8
}

// moneyFlags are the price and the bounds of a run in money.
type moneyFlags struct {
	price       priceFlags
	maxCost     money.Amount
	refreshCost money.Amount
}

// applyMoney sets the price and, from the bounds of money, the bounds of requests. The embedded service costs nothing.
func (f *runFlags) applyMoney(hosted bool) (err error) {
	if !hosted {
		return nil
	}
	m := &f.money
	if f.Price, err = m.price.get(f.service.profile); err != nil {
		return err
	}
	if f.Price.Request == 0 && (m.maxCost > 0 || m.refreshCost > 0) {
		return errors.New("--max-cost, --refresh-cost: say what a request costs with --price")
	}
	f.MaxCost = m.maxCost
	switch requests := f.Price.Requests(m.refreshCost); {
	case m.refreshCost == 0:
	case requests == 0:
		return fmt.Errorf("--refresh-cost: %s does not pay for one request", f.Price.Text(m.refreshCost))
	case f.Store.RefreshBudget > 0:
		return errors.New("--refresh-cost: give this or --refresh-budget")
	default:
		f.Store.RefreshBudget = requests
	}
	return nil
}
