package report

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

func clock(t time.Time) string { return t.UTC().Format("2006-01-02 15:04:05 UTC") }

// brief is a time in tables that say that their times are in UTC.
func brief(t time.Time) string { return t.UTC().Format("2006-01-02 15:04") }

// basis is what the answers rest on, in words; "" if that is not known.
func basis(c account.Snapshot) string {
	var shares []string
	b := c.Basis
	sum := b.Service + b.Page + b.Name + b.Title + b.Model
	for _, name := range []client.Basis{client.BasisService, client.BasisPage, client.BasisName, client.BasisTitle, client.BasisModel} {
		if n := *b.Of(string(name)); n > 0 {
			shares = append(shares, fmt.Sprintf("%s %s (%s)", name, figures.Count(n), figures.Percent(figures.Share(n, sum))))
		}
	}
	if c.Unread > 0 {
		shares = append(shares, figures.Count(c.Unread)+" pages could not be read")
	}
	if len(shares) > 0 && c.FromStore > 0 {
		shares = append(shares, figures.Count(c.FromStore)+" were stored")
	}
	return strings.Join(shares, ", ")
}

// took is the time of all starts, without the time between them.
func took(r *Run) string {
	var total time.Duration
	for _, s := range r.Starts {
		total += s.Ended.Sub(s.Started)
	}
	return figures.Duration(total)
}

// confidenceOf is "" for an unknown confidence.
func confidenceOf(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}

// remaining is the number of elements of a list after the first ones; 0 for none.
func remaining(list any, first int) int { return max(0, reflect.ValueOf(list).Len()-first) }

// mostStarts bounds the table of starts: a scheduler may start a run each minute.
const mostStarts = 50

// last returns the last starts.
func last(list []Start) []Start { return list[max(0, len(list)-mostStarts):] }

// settings are those of the run, and how good its models are.
func settings(r *Run) [][2]string {
	list := append(figures.Settings(r.Settings, r.Service), models(r)...)
	return append(list, [2]string{"bulkcat", r.Bulkcat})
}

// met is the result of an expectation in words.
func met(e account.Expected) string {
	if e.Met {
		return "met"
	}
	return "not met"
}

// models says how often the models of a run are right about inputs that they have not seen.
func models(r *Run) (list [][2]string) {
	for _, m := range r.Models {
		list = append(list, [2]string{"Model", figures.Short(fmt.Sprintf("%s: %s labels of %s categories, cross-validated %s right, %s without the model",
			m.Classification, figures.Count(int64(m.Labels)), figures.Count(int64(m.Categories)), figures.Percent(m.Right), figures.Percent(m.Without)))})
		for _, a := range m.From {
			list = append(list, [2]string{fmt.Sprintf("Model from confidence %g on", a.Confidence), fmt.Sprintf("%s right, %s of the inputs", figures.Percent(a.Right), figures.Percent(a.Inputs))})
		}
	}
	return list
}
