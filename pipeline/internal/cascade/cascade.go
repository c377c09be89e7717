package cascade

import (
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/internal/spill"
)

// ErrRaised says that the audit of the step has failed. The caller must not publish the rows; it calls Raise and starts the run
// again.
var ErrRaised = errors.New("the model agrees with the service less often than wanted")

// Options describe a cascade. All fields are required, except Audit, MaxAge and Offline.
type Options struct {
	Run            string           // names the settings that determine the requests; the same for all starts of a run
	Model          client.Attempter // local and deterministic
	Source         string           // of the model's answers, for the column source
	Classification string           // of the model
	Threshold      float64          // the model is sure from this confidence on
	Precision      float64          // required share of free answers that agree with the service, between 0 and 1
	Audit          float64          // share of the requests that the audit sends to the service, from 0 to 1; 0 for no audit
	MaxAge         time.Duration    // an older plan is replaced; 0 for no maximum
	Offline        bool             // the run makes no plan; without a stored plan no answer is free
}

// Cascade is the cascade of a run, across its starts. The caller first offers all requests, then calls Plan. Afterwards,
// Answer and Count are safe for concurrent use.
type Cascade struct {
	options Options
	begun   time.Time // of a new plan
	plan    plan
	planned bool         // the store had the plan
	spill   *spill.Spill // the entries of the plan
	next    *spill.Spill // the entries of the plan that replaces a stored plan for other requests; nil if no plan can
	sure    int64        // distinct requests that reach the lowest threshold

	mu sync.Mutex
	at int // index of the step; len(plan.Steps) if no answer is free
}

const noteName = "cascade " // prefix of the note of a plan; Options.Run follows

// Begin begins a cascade. It reads the plan of an earlier start from the store, which may be nil. The caller closes the
// cascade.
func Begin(store *answers.Store, o Options, now time.Time) (*Cascade, error) {
	c := &Cascade{options: o, spill: spill.New("")}
	c.begun = now.UTC().Truncate(time.Microsecond) // the resolution of the times of answers
	note, err := store.Note(noteName + o.Run)
	if err != nil {
		return nil, err
	}
	c.planned = c.plan.decode(note)
	isOld := o.MaxAge > 0 && now.Sub(c.plan.Begun) > o.MaxAge
	if !c.planned || isOld && !o.Offline {
		c.renew()
	}
	if c.planned && !o.Offline {
		c.next = spill.New("")
	}
	return c, nil
}

// renewed returns the plan that replaces the present plan. The new number changes the hashes. With the old hashes, whose sample
// is answered, new requests would be over-represented in the sample.
func (c *Cascade) renewed() plan {
	return plan{Number: c.plan.Number + 1, Begun: c.begun, Audit: c.options.Audit}
}

func (c *Cascade) renew() { c.plan, c.planned = c.renewed(), false }

// Close removes temporary files.
func (c *Cascade) Close() error {
	if c.next == nil {
		return c.spill.Close()
	}
	return errors.Join(c.spill.Close(), c.next.Close())
}

// entry is a request that reaches the lowest threshold.
type entry struct {
	id         spill.ID // of the request
	confidence float64
	answered   bool // after the plan was made
	disagreed  bool
}

// hash returns the first 8 bytes of an id.
func hash(id spill.ID) uint64 { return binary.BigEndian.Uint64(id[:]) }

// idOf hashes the request, the model, the settings of the run and the number of the plan. So all starts have the same sample.
func (c *Cascade) idOf(r client.Request, number int) spill.ID {
	return spill.IDOf(c.options.Source, c.options.Run, strconv.Itoa(number), r.Classification, r.Input)
}

// Offer adds requests of the run, with the results of their lookups in the store. A request may be offered several times.
func (c *Cascade) Offer(requests []answers.Query) error {
	if c.unplanned() {
		return nil
	}
	plans, spills := []plan{c.plan}, []*spill.Spill{c.spill}
	if c.next != nil {
		plans, spills = append(plans, c.renewed()), append(spills, c.next)
	}
	entries := make([]entry, len(requests)*len(plans)) // the id is zero if the model does not answer the request
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range requests {
		q, of := &requests[i], entries[i*len(plans):][:len(plans)]
		isOf := func(p plan) bool { return !q.Found || !q.Outcome.AskedAt().Before(p.Begun) }
		if q.Request.Classification != c.options.Classification || !slices.ContainsFunc(plans, isOf) {
			continue
		}
		group.Go(func() error {
			predicted, sure := c.predict(q.Request)
			if !sure {
				return nil
			}
			for j, p := range plans {
				if isOf(p) {
					of[j] = entry{id: c.idOf(q.Request, p.Number), confidence: predicted[0].Confidence, answered: q.Found, disagreed: q.Found && !agrees(predicted, q.Outcome)}
				}
			}
			return nil
		})
	}
	_ = group.Wait() // the functions return no error
	for i := range entries {
		if e := &entries[i]; e.id != (spill.ID{}) {
			if err := spills[i%len(plans)].Add(e.append(nil)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (e *entry) append(b []byte) []byte {
	b = binary.BigEndian.AppendUint64(append(b, e.id[:]...), math.Float64bits(e.confidence))
	flags := byte(0)
	if e.answered {
		flags |= 1
	}
	if e.disagreed {
		flags |= 2
	}
	return append(b, flags)
}

func parseEntry(b []byte) entry {
	return entry{
		id: spill.ID(b), confidence: math.Float64frombits(binary.BigEndian.Uint64(b[len(spill.ID{}):])),
		answered: b[len(b)-1]&1 != 0, disagreed: b[len(b)-1]&2 != 0,
	}
}

// predict returns the answer of the model, and whether the answer reaches the lowest threshold. sure is false for an input that
// the model cannot read.
func (c *Cascade) predict(r client.Request) (entries []client.Entry, sure bool) {
	a, err := c.options.Model.Attempt(context.Background(), r) // a local model needs no cancellation
	if err != nil || len(a.Entries) == 0 {
		return nil, false
	}
	return a.Entries, a.Entries[0].Confidence >= c.options.Threshold
}

// agrees reports whether the model and the service give the same first category.
func agrees(predicted []client.Entry, o answers.Outcome) bool {
	return o.Rejection == nil && len(o.Answer.Entries) > 0 && o.Answer.Best().Value == predicted[0].Value
}

// each calls visit for each distinct entry, in the order of the ids.
func (c *Cascade) each(visit func(entry)) error {
	var last entry // of equal ids, the last entry has the highest flags
	for b, err := range c.spill.Sorted() {
		if err != nil {
			return err
		}
		e := parseEntry(b)
		if e.id != last.id && last.id != (spill.ID{}) {
			visit(last)
		}
		last = e
	}
	if last.id != (spill.ID{}) {
		visit(last)
	}
	return nil
}

// unplanned reports whether no answer is free because the run is offline and the store has no plan for its requests.
func (c *Cascade) unplanned() bool { return c.options.Offline && !c.planned }

// Plan ends the offers and sets the step of the run. digest is a digest of the distinct requests of the run, in all
// classifications. If the stored plan is for other requests, a new plan replaces it. An offline run makes no new plan, and no
// answer is free.
func (c *Cascade) Plan(digest string) error {
	if c.planned && c.plan.Digest != digest {
		c.renew()
		if c.options.Offline {
			return nil
		}
		c.spill, c.next = c.next, c.spill
	}
	c.plan.Digest = digest
	if !c.planned && !c.options.Offline {
		var counts histogram
		if err := c.each(counts.add); err != nil {
			return err
		}
		c.plan.choose(&counts, c.options.Threshold)
	}
	return c.count()
}

// count counts the requests and the outcomes of each step, and sets the step of the run.
func (c *Cascade) count() error {
	least := int64(0) // a stored plan has its cuts
	if !c.planned {
		least = leastSample(c.options.Precision)
	}
	err := c.each(func(e entry) {
		c.sure++
		for i := range c.plan.Steps {
			c.plan.Steps[i].add(e, c.plan.Audit > 0, least)
		}
	})
	if !c.planned {
		c.plan.Steps = slices.DeleteFunc(c.plan.Steps, func(s step) bool { return s.free == 0 })
	}
	for i := range c.plan.Steps {
		c.plan.Steps[i].setMost(i+1, c.options.Precision)
	}
	c.at = c.plan.firstPassing()
	return err
}

// Save writes a new plan to the store. Call it before the first request.
func (c *Cascade) Save(store *answers.Store) error {
	if store == nil || c.planned || c.options.Offline {
		return nil
	}
	note, err := json.Marshal(c.plan)
	if err != nil {
		return err
	}
	batch := store.NewBatch()
	batch.AddNote(noteName+c.options.Run, note)
	return batch.Commit()
}

// step returns the step of the run; nil if no answer is free.
func (c *Cascade) step() *step {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == len(c.plan.Steps) {
		return nil
	}
	return &c.plan.Steps[c.at]
}

// Answer returns the free answer to a request without a stored outcome, and its source. ok is false if the caller must ask the
// service: the model is not sure, or the request is in the sample.
func (c *Cascade) Answer(r client.Request) (a client.Answer, source string, ok bool) {
	s := c.step()
	if s == nil || r.Classification != c.options.Classification || c.plan.Audit > 0 && s.holds(hash(c.idOf(r, c.plan.Number))) {
		return client.Answer{}, "", false
	}
	predicted, sure := c.predict(r)
	if !sure || predicted[0].Confidence < s.Threshold {
		return client.Answer{}, "", false
	}
	return client.Answer{Entries: predicted, Free: true, AnsweredAt: c.plan.Begun}, c.options.Source, true
}

// Count counts an outcome of the service for the audit. The error is ErrRaised once the audit of the step has failed.
func (c *Cascade) Count(r client.Request, o answers.Outcome) error {
	if r.Classification != c.options.Classification || c.plan.Audit == 0 {
		return nil
	}
	h := hash(c.idOf(r, c.plan.Number))
	if !c.plan.mayHold(h) {
		return nil
	}
	predicted, sure := c.predict(r)
	if !sure {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range c.plan.Steps {
		if s := &c.plan.Steps[i]; s.holds(h) && predicted[0].Confidence >= s.Threshold {
			s.countOutcome(!agrees(predicted, o))
		}
	}
	if c.at < c.plan.firstPassing() {
		return ErrRaised
	}
	return nil
}

// Raise moves to the next step whose audit has not failed. It returns the failed audit.
func (c *Cascade) Raise() (failed account.Audit) {
	failed = c.Audit()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.plan.firstPassing()
	return failed
}

// Free returns the number of requests that the model answers; 0 for nil.
func (c *Cascade) Free() int64 {
	if c == nil {
		return 0
	}
	if s := c.step(); s != nil {
		return s.free
	}
	return 0
}

// AtRisk returns the number of free requests that the service must answer if all audits fail. It is 0 for nil, and once the
// audit of the step cannot fail.
func (c *Cascade) AtRisk() int64 {
	if c == nil {
		return 0
	}
	if s := c.step(); s != nil && c.plan.Audit > 0 && s.disagreed+s.missing() > s.most {
		return s.free
	}
	return 0
}

// Audit returns the current audit.
func (c *Cascade) Audit() account.Audit {
	a := account.Audit{Source: c.options.Source, Begun: c.plan.Begun, Precision: c.options.Precision}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at
	if at == len(c.plan.Steps) {
		if a.Cause = c.cause(); a.Cause != account.AuditFailed {
			a.Requests = c.sure
			return a
		}
		at-- // the last step, whose audit has failed
	} else {
		a.Step = at + 1
	}
	s := &c.plan.Steps[at]
	a.Threshold, a.Requests, a.Sample, a.Disagreed, a.Missing = s.Threshold, s.requests, s.sample, s.disagreed, s.missing()
	a = Restated(a)
	return a
}

// cause returns why no answer is free.
func (c *Cascade) cause() account.AuditCause {
	switch {
	case c.unplanned():
		return account.Unplanned
	case len(c.plan.Steps) > 0:
		return account.AuditFailed
	case c.sure > 0:
		return account.TooFew
	}
	return account.NoneSure
}

// leastSample returns the minimum size of a sample: 300 for a precision up to 95%, and more above. The bound then reaches the
// precision even if a few answers differ.
func leastSample(precision float64) int64 {
	return max(300, int64(math.Ceil(15/(1-precision))))
}
