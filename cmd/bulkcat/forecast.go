package main

import (
	"fmt"
	"io"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// forecastLine is a forecast as JSON.
type forecastLine struct {
	pipeline.Forecast
	ToAsk     int64            `json:"to_ask"`
	QuotaLeft string           `json:"quota_left,omitempty"` // as the service says it
	Cost      *forecastCost    `json:"cost,omitempty"`       // nil without a price
	Outlook   pipeline.Outlook `json:"outlook"`
}

type forecastCost struct {
	Price money.Price  `json:"price"`
	Spent money.Amount `json:"spent"` // for all that is to be asked
	Saved money.Amount `json:"saved"` // by equal requests and stored answers
}

func costOfForecast(f pipeline.Forecast, p money.Price) *forecastCost {
	if p.Request == 0 {
		return nil
	}
	return &forecastCost{p, p.Of(f.ToAsk()), p.Of(f.Repeated + f.Answered - f.Refresh + f.Free)}
}

// tellForecast prints the forecast of a dry run.
func (f *runFlags) tellForecast() error {
	cost, outlook := costOfForecast(f.forecast, f.Price), pipeline.NewOutlook(f.forecast, f.SessionOptions, time.Now())
	if f.log.format == "json" {
		return writeJSON(f.streams.out, forecastLine{f.forecast, f.forecast.ToAsk(), f.forecast.Quota.Remaining, cost, outlook})
	}
	out := f.streams.text()
	printForecast(out, f.forecast, f.Kind, cost)
	printOutlook(out, outlook)
	return nil
}

func forecastLines(out io.Writer) func(name string, value any) {
	return func(name string, value any) { fmt.Fprintf(out, "%-18s %v\n", name, value) }
}

func printForecast(out io.Writer, c pipeline.Forecast, kind client.Kind, cost *forecastCost) {
	line := forecastLines(out)
	line("records", c.Records)
	line("invalid", c.Invalid)
	line("distinct requests", c.Distinct)
	line("already answered", c.Answered)
	if c.Refresh > 0 {
		line("of these asked again", c.Refresh)
	}
	if c.Free > 0 {
		line("free by the model", c.Free)
	}
	line("to be asked", c.ToAsk())
	if c.Audit > 0 {
		line("of these audited", c.Audit)
	}
	if kind == client.Website {
		line("dedupe site saves", c.Saved)
	}
	if cost != nil {
		line("cost", cost.Price.Text(cost.Spent))
		line("saved", cost.Price.Text(cost.Saved)+" by equal requests and stored answers")
	}
	if c.Quota.Remaining != "" {
		line("quota left", c.Quota.Remaining)
	}
	if left, ok := c.Quota.Requests(); ok && left < c.ToAsk() {
		line("quota missing", c.ToAsk()-left)
	}
}

// stops says in words what ends a run early.
var stops = map[record.Cause]string{
	record.QuotaExhausted: "the quota is used up", record.Budget: "a limit of the requests is reached", record.Deadline: "the deadline comes",
}

// printOutlook prints when the run would end, and what would end it.
func printOutlook(out io.Writer, o pipeline.Outlook) {
	line := forecastLines(out)
	if o.Stop != "" {
		line("stops early", fmt.Sprintf("%s after %d requests", stops[o.Stop], o.Requests))
	}
	if o.Ends == nil || o.Requests == 0 {
		return
	}
	rate := perSecond(o.Rate)
	if o.Learned {
		rate += ", learned by an earlier run"
	}
	took := time.Duration(float64(o.Requests) / o.Rate * float64(time.Second))
	line("time at the rate", fmt.Sprintf("%v, until %s (%s)", took.Round(time.Second), o.Ends.Local().Format("Jan 2 15:04"), rate))
}
