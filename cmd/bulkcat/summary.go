package main

import (
	"cmp"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/money"
	"github.com/bulkcat/bulkcat/cmd/bulkcat/internal/terminal"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/writer"
)

// reasonsShown is how many reasons of a status the summary lists.
const reasonsShown = 2

// summary reports a run.
type summary struct {
	account *account.Account
	usage   client.Usage
	left    string // the quota that is left, in words; "" if unknown
	total   int64  // records of the input, perhaps estimated; 0 if unknown
	resume  string // the command that resumes the run; "" if no command can
	spool   string // the file with the copy of standard input; "" for none
	forgets bool   // the rejections of this start are not stored
}

func newSummary(session *pipeline.Session, a *account.Account, err error) *summary {
	s := &summary{account: a, total: session.Status().Total, resume: resumeCommand(session, err), spool: session.SpoolPath(), forgets: session.ForgetsRejections()}
	usage, since := session.LastUsage()
	switch s.usage = usage; {
	case since > 0:
		s.left = usage.Remaining + " left " + figures.Duration(since) + " ago"
	case usage.Remaining != "":
		s.left = usage.Remaining + " left"
	}
	return s
}

// tell prints the summary, or logs it as one line if the log is JSON.
func (s *summary) tell(c *terminal.Console, log *slog.Logger) {
	if c.JSON() {
		log.Info("summary", s.attributes()...)
		return
	}
	var text strings.Builder
	s.print(&text)
	_, _ = io.WriteString(c, text.String())
}

// print prints the results of the run, its cost, problems and the next command. It leaves out figures of zero.
func (s *summary) print(out io.Writer) {
	a, c := s.account, s.account.Counts
	line := func(name, format string, args ...any) {
		fmt.Fprintf(out, "  %-9s %s\n", name, fmt.Sprintf(format, args...))
	}
	fmt.Fprintf(out, "%s after %s%s\n", s.headline(), figures.Duration(s.took()), s.speed())
	line("records", "%d%s%s: %s", c.Settled(), s.ofTotal(), inSeveral(a.Settings.Classifications()), byStatus(c))
	s.printReasons(line)
	comments := int64(0)
	for _, input := range a.Inputs {
		comments += input.Comments
	}
	if comments > 0 {
		line("comments", "%s skipped", figures.Counted(comments, "line"))
	}
	if c.Kept > 0 {
		line("kept", "%s in parts that were published before", figures.Counted(c.Kept, "record"))
	}
	line("requests", "%s", s.requests())
	if cost := a.Cost; cost != nil {
		line("cost", "%s", costText(cost, a.StartsBefore()))
	}
	if a.StartsBefore() > 0 {
		line("in all", "%s", s.inAll())
	}
	if a.Free != nil {
		line("free", "%s answered by the model: %s", figures.Counted(c.Free, "record"), a.Free)
	}
	if c.Unread > 0 {
		line("pages", "%s could not be read: the names decided", figures.Counted(c.Unread, "page"))
	}
	if c.AskedAgain > 0 {
		line("refresh", "%s asked again: %d have changed", figures.Counted(c.AskedAgain, "stored answer"), c.Changed)
	}
	for _, text := range drift(c.Drift) {
		line("drift", "%s", text)
	}
	for _, e := range a.Expectations {
		line("expect", "%s", expectationText(e))
	}
	if s.left != "" && s.isShort() {
		line("quota", "%s", s.left)
	}
	if a.Ending == account.Complete {
		line("output", "%s (%s)", place(a.Settings.Output), figures.Counted(c.Rows, "row"))
	}
	if s.resume != "" {
		line("resume", "%s", s.resume)
	} else if s.spool != "" {
		line("input", "standard input is kept in %s", s.spool)
	}
}

// speed describes the rate of the run; "" if the run was too short to have a rate.
func (s *summary) speed() string {
	if rate := float64(s.account.Counts.SettledNow()) / s.took().Seconds(); s.took() >= time.Second && rate >= 0.1 {
		return fmt.Sprintf(", %.1f records/s", rate)
	}
	return ""
}

// ofTotal says how many records the input has, if the run has ended early.
func (s *summary) ofTotal() string {
	if s.account.Ending == account.Complete || s.total <= s.account.Counts.Settled() {
		return ""
	}
	return fmt.Sprintf(" of %d", s.total)
}

// requests describes the requests of this start, and the sources of the other answers. Account.Saved counts all starts of the
// run, so inAll describes the saved requests of a run with several starts.
func (s *summary) requests() string {
	a, c := s.account, s.account.Counts
	text := fmt.Sprintf("%d made", c.Requests)
	if a.StartsBefore() > 0 {
		text += " by this start"
	}
	var of []string
	if c.Retries > 0 {
		of = append(of, figures.Counted(c.Retries, "retry"))
	}
	if c.Rechecks > 0 {
		of = append(of, figures.Counted(c.Rechecks, "check")+" of the service")
	}
	if len(of) > 0 {
		text += " (" + strings.Join(of, ", ") + ")"
	}
	if a.Saved > 0 && a.StartsBefore() == 0 {
		text += fmt.Sprintf(", %d saved", a.Saved)
	}
	if c.FromStore > 0 {
		text += fmt.Sprintf("; %s from %s", figures.Counted(c.FromStore, "stored answer"), a.Store)
	}
	return text
}

// inAll describes the requests of all starts of the run, the saved requests and their cost.
func (s *summary) inAll() string {
	a := s.account
	text := fmt.Sprintf("%d made by %d starts", a.Counts.Requests+a.Before().Requests, a.StartsBefore()+1)
	if a.Saved > 0 {
		text += fmt.Sprintf(", %d saved", a.Saved)
	}
	if a.Cost != nil {
		text += "; " + a.Cost.Price.Text(a.Cost.Total)
		if a.Cost.Saved > 0 {
			text += ", saved " + a.Cost.Price.Text(a.Cost.Saved)
		}
	}
	return text
}

// isShort reports whether the quota may have ended the run, or is too low for another run like this.
func (s *summary) isShort() bool {
	requests, known := s.usage.Requests()
	if !known && s.usage.Understood() { // unlimited
		return false
	}
	return s.account.Ending != account.Complete || known && requests < s.account.Counts.Requests
}

// costText describes the cost of a start and the saved cost. before is the number of earlier starts; if there are any, inAll
// describes the saved cost.
func costText(c *money.Cost, before int) string {
	text := c.Price.Text(c.Spent)
	switch {
	case before > 0:
		text += " by this start"
	case c.Saved > 0:
		text += "; saved " + c.Price.Text(c.Saved)
	}
	return text
}

// drift describes each departure of the answers from the interface.
func drift(d account.Drift[int64]) (list []string) {
	for _, departure := range []struct {
		count int64
		text  string
	}{
		{d.Category, "%d entries of answers name a category that is not in the taxonomy as bulkcat knows it; they are in the rows as the service gave them: the service may have another version of the taxonomy"},
		{d.Confidence, "%d entries of answers have no confidence from 0 to 1; they are in the rows as the service gave them"},
		{d.Dropped, "%d entries of answers have no category; they are left out"},
		{d.Order, "%d answers are not in the order of confidence; rank is the place in the answer, and --shape top takes the highest confidence"},
	} {
		if departure.count > 0 {
			list = append(list, fmt.Sprintf(departure.text, departure.count))
		}
	}
	return list
}

func (s *summary) attributes() []any {
	a := s.account
	list := []any{"ending", a.Ending, "seconds", s.took().Seconds(), "counts", a.Counts}
	for _, more := range [][2]string{{"error", a.Error}, {"left", s.left}, {"resume", s.resume}, {"spool", s.spool}} {
		if more[1] != "" {
			list = append(list, more[0], more[1])
		}
	}
	if a.Cost != nil {
		list = append(list, "cost", a.Cost)
	}
	if len(a.Expectations) > 0 {
		list = append(list, "expectations", a.Expectations)
	}
	if a.Free != nil {
		list = append(list, "free", a.Free)
	}
	if a.Ending == account.Complete {
		list = append(list, "output", a.Settings.Output)
	}
	return list
}

func (s *summary) took() time.Duration { return s.account.Ended.Sub(s.account.Started) }

func (s *summary) headline() string {
	switch a := s.account; {
	case a.Ending == account.Failed:
		return "Failed"
	case a.Ending == account.Complete && a.Counts.Pending > 0:
		return "Partial"
	case a.Ending == account.Complete:
		return "Complete"
	case s.resume == "":
		return "Stopped (" + string(a.Ending) + ")"
	}
	return "Stopped (" + string(s.account.Ending) + "), resumable,"
}

// printReasons prints the most frequent reasons of each status, each with the place of one record, and
// advice.
func (s *summary) printReasons(line func(name, format string, args ...any)) {
	for _, status := range []writer.Status{writer.StatusInvalid, writer.StatusBlank, writer.StatusRejected, writer.StatusFailed} {
		shown, more := 0, int64(0)
		name, advised := string(status), ""
		for _, r := range s.account.Counts.Reasons {
			switch {
			case r.Status != status:
			case shown == reasonsShown:
				more += r.Records
			default:
				line(name, "%d: %s", r.Records, reasonText(r))
				name, advised = "", cmp.Or(advised, s.advice(r))
				shown++
			}
		}
		if more > 0 {
			line("", "%d for other reasons: see the column error", more)
		}
		if advised != "" {
			line("", "%s", advised)
		}
	}
}

// reasonText formats a reason with the words of the service and the place of the first record.
func reasonText(r account.Reason) string {
	text := r.Text + adviceOf[r.Option]
	if r.Example != "" {
		text += ", such as " + strconv.Quote(r.Example)
	}
	file := r.File
	if file == "-" {
		file = "stdin"
	}
	return fmt.Sprintf("%s (%s:%d)", text, file, r.Line)
}

// wrongColumn is 1 divided by the share of invalid inputs from which on the column is probably wrong: most lists have a few
// invalid inputs.
const wrongColumn = 10

// advice says what helps against a reason; "" if there is no advice.
func (s *summary) advice(r account.Reason) string {
	switch {
	case r.Class == account.ClassInput && r.Records*wrongColumn >= s.account.Counts.Settled():
		return "if the inputs are in another column, name it with --column"
	case r.Status == writer.StatusRejected && s.forgets:
		return "the rejections of this run are not stored: the next run asks again"
	case r.Status == writer.StatusRejected:
		return "to ask again for rejected inputs, add --retry-rejected"
	case r.Class == "timeout":
		return "to wait longer for an answer, raise --timeout; the next run asks again"
	case r.Class == "429":
		return "to ask more slowly, lower --rate; the next run asks again"
	case r.Status == writer.StatusFailed:
		return "the next run asks again; for more attempts raise --max-attempts"
	}
	return ""
}

// inSeveral says how many classifications there are; "" for one classification.
func inSeveral(classifications []string) string {
	if len(classifications) < 2 {
		return ""
	}
	return fmt.Sprintf(" in %d classifications", len(classifications))
}

func byStatus(c account.Snapshot) string {
	var parts []string
	for _, status := range writer.Statuses {
		if n := *c.WithStatus(status); n > 0 || status == writer.StatusOK {
			parts = append(parts, fmt.Sprintf("%d %s", n, status))
		}
	}
	return strings.Join(parts, ", ")
}

func place(output string) string {
	if output == "-" {
		return "standard output"
	}
	return output
}
