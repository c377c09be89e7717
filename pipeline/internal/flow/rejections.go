package flow

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/ask"
	"github.com/bulkcat/bulkcat/client/limits"
)

// rejections holds rejected tasks until it is known whether the rejections are about the inputs. A service
// that is asked with a parameter of the wrong name, or a misrouting proxy, rejects every input in the
// same way.
//
// A rejection is about the input if a request that was sent later is answered. After a long series of
// equal rejections, a request that was answered before is repeated. If the service rejects that request
// as well, the service is out, and the tasks are asked again when the service is back; in a run without
// any answer the settings are wrong, and the run ends.
//
// An answer of another shape (client.ShapeError) is charged, and so is not asked for again like a failure. If the service has
// given answers that fit in the classification, an answer of another shape is a rejection of its input. Otherwise the settings
// are wrong, and client.MostUnusable such answers end the run. If the service has never answered, the same number of pages of
// HTML or XML also ends the run, whether their status is a success or a rejection.
type rejections struct {
	recalled    sync.Map     // classifications whose latest stored answer was looked up: see recallLatest
	bare        atomic.Int64 // answers without a list of entries: see checkBare
	unconfirmed ask.Rejected[*task]
	judge       ask.Judge
	paused      atomic.Bool // a timer ends the pause: see ask.Judge.Pause

	mu     sync.Mutex
	kind   string // the label of the errors of the series
	series int    // rejections of one kind in a row
	check  int    // the length of the series at which the service is checked next
	failed bool   // the repeated request was rejected as well

	suspicious bool // the request is repeated because of the series
}

const (
	firstSeries = 20   // rejections in a row before the first check
	mostSeries  = 1000 // maximum number of further rejections before the next check
	mostBare    = 100  // bare answers that end a run without another answer: a list may begin with inputs that the service does not know
	mostUnknown = 1000 // as mostBare, for rejections that blame the input
)

// MisconfiguredError says that the service has rejected every input in the same way, and has answered
// none. The settings are probably wrong: no record was rejected, and the run ended.
type MisconfiguredError struct {
	Inputs  int    // rejected inputs
	Address string // the base URL, if the base URL is probably wrong; else ""
	Err     *client.Error
}

func (e *MisconfiguredError) Error() string {
	text := fmt.Sprintf("the service rejects every input (%d of %d): %v", e.Inputs, e.Inputs, e.Err)
	if e.Address != "" {
		text += fmt.Sprintf("; the base URL %s is probably wrong", e.Address)
	}
	if shorter := shorterBase(e.Address); shorter != "" {
		text += ": use " + shorter
	}
	return text
}

func (e *MisconfiguredError) Unwrap() error { return e.Err }

// shorterBase returns a base URL without the paths of the interface at its end, which clients append themselves. If base
// answers 404, the service is probably at the shorter URL. It returns "" if the base URL does not end with such a path.
func shorterBase(base string) string {
	shorter := strings.TrimRight(base, "/")
	for _, end := range []string{"/usage", "/categorization", "/website", "/product", "/v1", "/api"} {
		shorter = strings.TrimSuffix(shorter, end)
	}
	if shorter == strings.TrimRight(base, "/") {
		return ""
	}
	return shorter
}

// hold holds a rejected task, and starts a check of the service after a long series.
func (r *run) hold(t *task, e *client.Error) error {
	f := &r.rejections
	least := firstSeries
	if now, _ := r.standing.Shown(t.Request.Classification); isMisfit(e) && !now {
		least = client.MostUnusable
	}
	if r.doubts(e) {
		ever, err := r.everAnswered()
		if err != nil {
			return err
		}
		if !ever {
			least = client.MostUnusable
		}
	}
	place, classification := t.place(), t.Request.Classification
	var series int
	var long bool
	if !t.WentAstray() { // else it was counted at its first rejection
		series, long = f.count(e, least)
	}
	sure := !t.WentAstray() || f.judge.IsSure(&t.Attempts, e)
	f.unconfirmed.Hold(t) // from here on t may end with an answer in another goroutine
	if long {
		if err := r.recallLatest(classification); err != nil {
			return err
		}
	}
	switch {
	case r.options.KeepGoing && !isMisfit(e):
		if long {
			r.Log.Warn("the service rejects one input after another", "series", series, "last", place, "error", e)
		}
		r.saveAll(f.unconfirmed.TakeAll())
	case !long && sure:
		r.wakeAtLast(r.open.Load())
	case r.standing.Known() == nil && (series >= mostUnknown || !r.mayBlameInput(e)):
		return r.misconfigured(series, e)
	case r.standing.Known() == nil:
		r.Log.Warn("the service rejects one input after another, and has answered none", "series", series, "last", place, "error", e)
	default:
		r.Counters.LastError.Store(e)
		r.suspect()
		r.dispatcher.Wake()
	}
	return nil
}

// wentAstray counts a rejection of a request that is repeated, because another server may have rejected it, like one that is held.
func (r *run) wentAstray(e *client.Error) {
	if _, long := r.rejections.count(e, firstSeries); long && !r.options.KeepGoing {
		r.Counters.LastError.Store(e)
		r.suspect()
		r.dispatcher.Wake()
	}
}

// settle saves tasks whose rejections are about their inputs, as other requests have shown. It repeats the requests that another server
// may have rejected before the first answer, and that are judged only now.
func (r *run) settle(tasks []*task) {
	now := time.Now()
	r.saveAll(slices.DeleteFunc(tasks, func(t *task) bool {
		e, ok := errors.AsType[*client.Error](t.err)
		if !ok {
			return false
		}
		if e = r.rejections.judge.Late(&t.Attempts, e, r.options.Retry); e.Class != client.Transient {
			return false
		}
		t.err = nil
		t.Fail(now, e, r.options.Retry)
		r.park(t)
		return true
	}))
}

// recallLatest adds the latest stored answer of a classification to the standing, if this run has no answer in it. The standing
// then has a request to repeat, and knows that the service has given answers that fit.
func (r *run) recallLatest(classification string) error {
	if _, ever := r.standing.Shown(classification); ever && r.standing.Known() != nil || r.options.KeepGoing {
		return nil
	}
	if _, looked := r.rejections.recalled.LoadOrStore(classification, true); looked {
		return nil
	}
	latest, found, err := r.Store.LatestAnswer(r.options.Kind, classification)
	if found {
		r.standing.Recall(latest.Request, latest.Outcome.Answer)
	}
	return err
}

// count adds a rejection to the series. It returns the length of the series, and whether the series is long enough for a check: at
// least least.
func (f *rejections) count(e *client.Error, least int) (series int, long bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if kind := e.Label(); kind != f.kind {
		f.kind, f.series = kind, 0
	}
	f.series++
	if f.series < max(f.check, least) {
		return f.series, false
	}
	f.check = f.series + min(f.series, mostSeries)
	return f.series, true
}

// confirmedBy ends the series because a request was answered. It returns the tasks whose rejections the answer confirms: the tasks
// that were sent before the request.
func (f *rejections) confirmedBy(sent time.Time) []*task {
	f.mu.Lock()
	f.kind, f.series = "", 0
	f.mu.Unlock()
	if f.unconfirmed.Len() == 0 {
		return nil
	}
	return f.unconfirmed.Confirm(sent)
}

// isMisfit reports whether a rejection is an answer of another shape.
func isMisfit(e *client.Error) bool {
	return e.Class == client.Rejected && e.Label() == malformed
}

const malformed = "malformed" // the label of an answer of another shape

// tolerate changes the error of an unusable response, which no service of this kind gives: to a transient failure, or to a
// rejection if the response is an answer of another shape. The error stays fatal after several such responses without an answer.
func (r *run) tolerate(t *task, err error) error {
	e, ok := errors.AsType[*client.Error](err)
	if ok && e.Page && e.Label() == malformed {
		return r.toleratePage(e)
	}
	if !ok || e.Class != client.Fatal {
		return err
	}
	answers := r.answers()
	if shape, misfit := errors.AsType[*client.ShapeError](err); misfit {
		if err := r.recallLatest(t.Request.Classification); err != nil {
			return err
		}
		now, ever := r.standing.Shown(t.Request.Classification)
		if answers = now || ever; ever && !shape.Worded {
			return e.Rejection()
		}
	}
	if !answers && r.standing.Doubt() {
		return err
	}
	passing := *e
	passing.Class = client.Transient
	return &passing
}

// doubts reports whether an error is a rejection by a page, and the service has not answered in this run: another server may
// have rejected the request.
func (r *run) doubts(err error) bool {
	e, ok := errors.AsType[*client.Error](err)
	return ok && e.Page && e.Class == client.Rejected && !r.options.KeepGoing && !r.answers()
}

// toleratePage returns a fatal error after several pages in place of answers, if the service tells its quota but has never
// answered: its categorization is probably at another address. Other pages are transient failures, such as pages of an outage.
func (r *run) toleratePage(e *client.Error) error {
	if !r.standing.Reached() || r.options.KeepGoing || !r.standing.Doubt() {
		return e
	}
	if ever, err := r.everAnswered(); err != nil || ever {
		return cmp.Or[error](err, e)
	}
	wrong := *e
	wrong.Class, wrong.Err = client.Fatal, &client.OptionError{Option: "BaseURL", Err: errors.New("a page in place of an answer")}
	return &wrong
}

// checkBare ends a run that gets many answers such as {} and no answer with entries: the service probably does not understand
// the requests. An answer with status 204 shows that the service understands them.
func (r *run) checkBare(t *task) error {
	if _, ever := r.standing.Shown(t.Request.Classification); ever || !t.answer.Bare || t.answer.Status == http.StatusNoContent || r.options.KeepGoing {
		return nil
	}
	n := r.rejections.bare.Add(1)
	if n < mostBare {
		return nil
	}
	return &MisconfiguredError{Inputs: int(n), Err: &client.Error{Class: client.Fatal, Status: t.answer.Status, Err: errBare}}
}

var errBare = errors.New("the answers have no list of categories, not even an empty one")

// recheck repeats a request that was answered before. If the service now rejects the request, the unconfirmed rejections are not
// about the inputs.
func (r *run) recheck(t *task, permit limits.Permit) error {
	r.Counters.Rechecks.Add(1)
	answer, err := r.exchange(t)
	original, _ := errors.AsType[*client.Error](err)
	err = r.tolerate(t, err)
	result := ask.ResultOf(answer, err)
	e, failed := errors.AsType[*client.Error](err)
	refused := failed && e.Class == client.Rejected
	if refused {
		result.Signal = limits.Failed
		r.rejections.mu.Lock()
		r.rejections.failed = true
		r.rejections.mu.Unlock()
		if e.Astray() {
			r.rejections.judge.Pass()
		}
	}
	switch {
	case failed:
		r.Counters.CountError(e)
		r.Counters.LastError.Store(e)
	case err == nil:
		r.Counters.CountAnswer(answer)
		client.Release(&answer)
		r.rejections.judge.Works(t.Sent)
		r.checked() // before End, which allows another request
	}
	r.dispatcher.End(permit, result)
	switch {
	case err == nil:
	case failed && isMisfit(e):
		return &ServiceError{Input: t.Request.Input, Err: original}
	case !failed:
		r.Counters.CountCanceled()
	case refused && !r.answers() && r.rejections.unconfirmed.Len() > 0:
		return r.misconfigured(r.rejections.unconfirmed.Len(), e)
	case e.Class == client.Quota:
		r.waitForQuota(e)
	case e.Class == client.Auth || e.Class == client.Fatal:
		return &ServiceError{Input: t.Request.Input, Err: e}
	}
	return nil
}

// checked acts on a repeated request that was answered.
func (r *run) checked() {
	f := &r.rejections
	f.mu.Lock()
	rejected, series, suspicious := f.failed, f.series, f.suspicious
	f.failed, f.suspicious = false, false
	f.mu.Unlock()
	if !rejected && suspicious && series >= firstSeries {
		r.Log.Warn("the service rejects one input after another, but still answers an input that it answered before", "series", series, "error", r.Counters.LastError.Load())
	}
	if !rejected {
		r.settle(f.unconfirmed.TakeAll())
		return
	}
	for _, t := range f.unconfirmed.TakeAll() {
		t.err = nil
		t.Repeat(time.Now())
		r.park(t)
	}
}

// wakeAtLast wakes the dispatcher if only unconfirmed tasks, and tasks that wait for other processes, are open: see endSeries.
func (r *run) wakeAtLast(open int64) {
	if n := r.rejections.unconfirmed.Len(); n > 0 && int64(n) == open-r.claims.waiting() {
		r.dispatcher.Wake()
	}
}

// misconfigured returns the error of a run without any answer.
func (r *run) misconfigured(inputs int, e *client.Error) error {
	wrong := &MisconfiguredError{Inputs: inputs, Err: e}
	if isUnknown(e) && !r.standing.Reached() {
		wrong.Address = r.options.SourceName
	}
	return wrong
}

// mayBlameInput reports whether a rejection may say that the service does not know the input: by its message, or by its status
// if the service has told its quota. Otherwise a server at a wrong address may have sent the status.
func (r *run) mayBlameInput(e *client.Error) bool {
	return e.BlamesInput() || isUnknown(e) && !e.Page && r.standing.Reached()
}

func isUnknown(e *client.Error) bool {
	return e.Status == http.StatusNotFound || e.Status == http.StatusGone
}

// answers reports whether the service has answered this process.
func (r *run) answers() bool { return r.standing.State() == client.Answering }

// allMisconfigured returns the error of a run without any answer whose settings are the cause: all rejections are pages, or the
// service does not tell its quota either, or several rejections do not blame their inputs. It returns nil if the inputs may be
// the cause.
func (r *run) allMisconfigured(rejected []*task) error {
	ever, err := r.everAnswered()
	if err != nil || ever || r.options.KeepGoing {
		return err
	}
	for _, t := range rejected {
		e, ok := errors.AsType[*client.Error](t.err)
		if !ok || r.mayBlameInput(e) || r.standing.Reached() && !e.Page && len(rejected) == 1 {
			return nil
		}
	}
	last, _ := errors.AsType[*client.Error](rejected[len(rejected)-1].err)
	return r.misconfigured(len(rejected), last)
}

// endSeries completes the unconfirmed tasks when no other task is open, and so no answer can follow. Many rejections are checked
// first. In a run without any answer the rejections are not stored, and the run ends if the settings are probably wrong.
func (r *run) endSeries() {
	f := &r.rejections
	f.mu.Lock()
	kind := f.kind
	f.mu.Unlock()
	switch n := f.unconfirmed.Len(); {
	case n == 0 || int64(n) != r.open.Load()-r.claims.waiting():
	case kind == malformed && !r.answers():
		r.suspect()
	case !r.answers():
		rejected := f.unconfirmed.TakeAll()
		if err := r.allMisconfigured(rejected); err != nil {
			r.stop(err)
			return
		}
		for _, t := range rejected {
			r.endUnstored(t)
		}
	case n < firstSeries:
		r.settle(f.unconfirmed.TakeAll())
	default:
		r.suspect()
	}
}

// suspect makes the limits repeat a request that was answered before, because of a series of rejections.
func (r *run) suspect() {
	f := &r.rejections
	f.mu.Lock()
	f.suspicious = true
	f.mu.Unlock()
	r.Limits.Suspect(time.Now())
}
