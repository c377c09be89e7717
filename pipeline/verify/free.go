package verify

import (
	"fmt"

	"github.com/bulkcat/bulkcat/writer"
)

// checkSource checks the source of a group in a run with a model that answers for nothing, and reports whether the answer
// is that of the model. The model answers with the confidence of the account or more.
func (v *verification) checkSource(g *group) (free bool) {
	if v.Account == nil || v.Account.Settings.Free == "" {
		return false
	}
	source := g.first(writer.ColumnSource)
	if v.Account.Free == nil || source != v.Account.Free.Source {
		g.expect("source", sameText(v.Account.Service), source)
		return false
	}
	v.report.Free++
	x, ok := confidence(g.first(writer.ColumnConfidence))
	switch threshold := v.Account.Free.Threshold; {
	case g.status() == writer.StatusEmpty && g.mayDrop():
	case g.status() != writer.StatusOK:
		g.finding("status", "ok, for the model has answered", show(string(g.status())))
	case ok && x < threshold && g.first(writer.ColumnRank) == "1":
		g.finding("confidence", fmt.Sprintf("%v or more, for the model has answered", threshold), fmt.Sprint(x))
	}
	return true
}

// checkFree compares the number of answers for nothing with the account, and computes the bound of the audit anew.
func (v *verification) checkFree() {
	audit := v.Account.Free
	expect(&v.report, Finding{}, "free records, by the account", v.Account.Counts.Free, v.report.Free)
	if audit == nil {
		return
	}
	expect(&v.report, Finding{}, "source of the free records", v.Account.Settings.Free, audit.Source)
	restated := audit.Restated()
	expect(&v.report, Finding{}, "level of the audit", restated.Level, audit.Level)
	expect(&v.report, Finding{}, "bound of the audit", restated.Bound, audit.Bound)
	v.report.Audit = &restated
}
