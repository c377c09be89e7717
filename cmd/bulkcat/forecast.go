package main

import (
	"fmt"
	"io"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// forecastLine is a forecast as JSON.
type forecastLine struct {
	pipeline.Forecast
	expenses
	QuotaLeft    string    `json:"quota_left,omitempty"`     // in the words of the service
	IfAuditFails *expenses `json:"if_audit_fails,omitempty"` // if the audit of the free answers fails at each threshold; nil if it cannot fail
}

// expenses are the requests of a run, their cost and their time.
type expenses struct {
	ToAsk   int64            `json:"to_ask"`
	Cost    *forecastCost    `json:"cost,omitempty"` // nil without a price
	Outlook pipeline.Outlook `json:"outlook"`
}

type forecastCost struct {
	Price money.Price  `json:"price"`
	Spent money.Amount `json:"spent"` // for all requests to ask
	Saved money.Amount `json:"saved"` // by equal requests, stored answers and free answers
}

func costOfForecast(f pipeline.Forecast, p money.Price) *forecastCost {
	if p.Request == 0 {
		return nil
	}
	return &forecastCost{p, p.Of(f.ToAsk()), p.Of(f.Repeated + f.Answered - f.Paid - f.Refresh + f.Free)}
}

// plus returns the sum of two costs; nil if their prices differ.
func (c *forecastCost) plus(other *forecastCost) *forecastCost {
	if c == nil || other == nil || c.Price != other.Price {
		return nil
	}
	return &forecastCost{c.Price, c.Spent.Plus(other.Spent), c.Saved.Plus(other.Saved)}
}

// expensesOf returns the expenses of a run that starts now, from its forecast.
func (f *runFlags) expensesOf(c pipeline.Forecast, now time.Time) expenses {
	return expenses{c.ToAsk(), costOfForecast(c, f.Price), pipeline.NewOutlook(c, now)}
}

// tellForecast prints the forecast of a dry run.
func (f *runFlags) tellForecast() error {
	now := time.Now()
	held, failed := f.expensesOf(f.forecast, now), f.expensesOf(f.forecast.IfAuditFails(), now)
	if f.log.format == "json" {
		line := forecastLine{f.forecast, held, f.forecast.Quota.Remaining, nil}
		if f.forecast.AtRisk > 0 {
			line.IfAuditFails = &failed
		}
		return writeJSON(f.streams.out, line)
	}
	out := f.streams.text()
	printInputs(out, f.forecast)
	printForecast(out, f.forecast, f.Kind, held.Cost, failed.Cost)
	printOutlook(out, held.Outlook, failed.Outlook, f.forecast.Quota.Gateway)
	return nil
}

func forecastLines(out io.Writer) func(name string, value any) {
	return func(name string, value any) { fmt.Fprintf(out, "%-18s %v\n", name, value) }
}

// audited formats two values: the value if the audit of the free answers holds, and the value if the audit fails.
func audited(held, failed string) string {
	switch {
	case held == failed:
		return held
	case held == "":
		return failed + " if the audit fails"
	}
	return held + " if the audit holds, " + failed + " if it fails"
}

// printInputs prints the input column, and the first inputs, which show a wrong column.
func printInputs(out io.Writer, c pipeline.Forecast) {
	line := forecastLines(out)
	switch {
	case c.Guessed:
		line("column", c.Column+" (guessed)")
	case c.Column != "":
		line("column", c.Column)
	}
	name := "inputs"
	for _, input := range c.Inputs {
		line(name, input)
		name = ""
	}
}

// printForecast prints the counts and the costs. held and failed are nil without a price.
func printForecast(out io.Writer, c pipeline.Forecast, kind client.Kind, held, failed *forecastCost) {
	line, most := forecastLines(out), c.IfAuditFails()
	line("records", c.Records)
	line("invalid", c.Invalid)
	if c.Blank > 0 {
		line("blank", c.Blank)
	}
	line("distinct requests", c.Distinct)
	line("already answered", c.Answered)
	if c.Refresh > 0 {
		line("of these asked again", c.Refresh)
	}
	if c.Free > 0 {
		line("free by the model", audited(fmt.Sprint(c.Free), fmt.Sprint(most.Free)))
	}
	line("to be asked", audited(fmt.Sprint(c.ToAsk()), fmt.Sprint(most.ToAsk())))
	if c.Audit > 0 {
		line("of these audited", c.Audit)
	}
	if kind == client.Website {
		line("dedupe site saves", c.Saved)
		line("dedupe host saves", c.SavedByHost)
		line("dedupe domain saves", c.SavedByDomain)
	}
	if held != nil && failed != nil {
		line("cost", audited(held.Price.Text(held.Spent), failed.Price.Text(failed.Spent)))
		by := " by equal requests and stored answers"
		if c.Free > 0 {
			by = " by equal requests, stored answers and free answers"
		}
		line("saved", audited(held.Price.Text(held.Saved)+by, failed.Price.Text(failed.Saved)+by))
	}
	if c.Quota.Remaining != "" {
		line("quota left", c.Quota.Remaining)
	}
	if left, ok := c.Quota.Requests(); ok && left < most.ToAsk() {
		missing, atMost := "", ""
		if left < c.ToAsk() {
			missing = fmt.Sprint(c.ToAsk() - left)
		}
		if c.Quota.Gateway {
			atMost = " at most: answers that the gateway has stored cost nothing"
		}
		line("quota missing", audited(missing, fmt.Sprint(most.ToAsk()-left))+atMost)
	}
}

// stops are the causes that end a run early, in words.
var stops = map[account.Cause]string{
	account.QuotaExhausted: "the quota is used up", account.Budget: "the budget is spent", account.Deadline: "the deadline comes",
}

// printOutlook prints when and why the run would end, if the audit of the free answers holds and if it fails. Behind a gateway
// the quota may be enough, because answers that the gateway has stored cost nothing.
func printOutlook(out io.Writer, held, failed pipeline.Outlook, gateway bool) {
	line, name := forecastLines(out), "stops early"
	if gateway && failed.Stop == account.QuotaExhausted {
		name = "may stop early"
	}
	if failed.Stop != "" {
		line(name, audited(stopText(held), stopText(failed)))
	}
	if failed.Ends == nil || failed.Requests == 0 {
		return
	}
	rate := perSecond(failed.Rate)
	if failed.Learned {
		rate += ", learned by an earlier run"
	}
	line("time at the rate", audited(timeText(held), timeText(failed))+" ("+rate+")")
}

// stopText says why a run ends early; "" for a run that becomes complete.
func stopText(o pipeline.Outlook) string {
	if o.Stop == "" {
		return ""
	}
	return fmt.Sprintf("%s after %d requests", stops[o.Stop], o.Requests)
}

// timeText returns the duration and the end of a run.
func timeText(o pipeline.Outlook) string {
	took := time.Duration(float64(o.Requests) / o.Rate * float64(time.Second))
	return fmt.Sprintf("%v, until %s", took.Round(time.Second), o.Ends.Local().Format("Jan 2 15:04"))
}
