package report

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// basis describes the basis of the answers in words; "" if it is unknown.
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

// Took returns the sum of the durations of all starts.
func (r *Run) Took() (total time.Duration) {
	for _, s := range r.Starts {
		total += s.Ended.Sub(s.Started)
	}
	return total
}

// Outcome returns the ending of the run in words.
func (r *Run) Outcome() string { return r.Starts[len(r.Starts)-1].Outcome() }

// Outcome returns the ending of the start in words: a complete start may have written a partial output.
func (s Start) Outcome() string {
	if s.Pending > 0 {
		return "partial output, " + figures.Counted(s.Pending, "record") + " pending"
	}
	return string(s.Ending)
}

// confidenceOf formats a confidence; "" for an unknown confidence.
func confidenceOf(x *float64) string {
	if x == nil {
		return ""
	}
	return strconv.FormatFloat(*x, 'g', 4, 64)
}

// models describes how often the models of a run are right about inputs from which they have not learned.
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
