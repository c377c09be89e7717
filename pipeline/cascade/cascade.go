package cascade

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/pipeline/spill"
)

// ErrRaised says that the audit has failed: the rows are not to be published, and the run begins anew after Raise.
var ErrRaised = errors.New("the model agrees with the service less often than wanted")

// Options describe a cascade. All but Audit, MaxAge and Offline is required.
type Options struct {
	Run            string             // a name of the settings that decide the requests, which is the same for all starts of the run
	Model          client.Categorizer // gives the same answer to a request each time, without a service
	Source         string             // of the model's answers, in rows
	Classification string             // that the model answers in
	Threshold      float64            // the confidence from which on the model is sure
	Precision      float64            // the share of the free answers that is to agree with the service, between 0 and 1
	Audit          float64            // the share of the free requests that is asked, too, from 0 to 1; 0 for no audit
	MaxAge         time.Duration      // an older plan holds no more, as older answers do not; 0 for any age
	Offline        bool               // nothing is asked: without a plan of an earlier start nothing is free
}

// Cascade is the cascade of a run, through all starts of the run. A caller offers the requests of the run until Plan wants
// no more. Then several goroutines may use Answer and Count.
type Cascade struct {
	options Options
	begun   time.Time // of a plan that is made now
	plan    plan
	planned bool // by an earlier start
	spill   *spill.Spill
	sure    int64 // different requests that the model is sure about at the lowest threshold

	mu sync.Mutex
	at int // index of the step; the number of steps if nothing is free
}

const noteName = "cascade " // a plan, with the run after the name

// Begin begins a cascade, or goes on with the plan that an earlier start of the run has left in the store. The store may be
// nil. The caller closes the cascade.
func Begin(store *answers.Store, o Options, now time.Time) (*Cascade, error) {
	c := &Cascade{options: o, spill: spill.New("")}
	c.begun = now.UTC().Truncate(time.Microsecond) // as answers have their time
	if store != nil {
		note, err := store.Note(noteName + o.Run)
		if err != nil {
			return nil, err
		}
		c.planned = c.plan.decode(note)
	}
	isOld := o.MaxAge > 0 && now.Sub(c.plan.Begun) > o.MaxAge
	if !c.planned || isOld && !o.Offline {
		c.renew()
	}
	return c, nil
}

// renew begins a plan in place of that of an earlier start. Its number gives the requests other hashes: the sample of the earlier
// plan is answered, so that by the same hashes a request that is new would be in the sample more often than the others.
func (c *Cascade) renew() {
	c.planned = false
	c.plan = plan{Number: c.plan.Number + 1, Begun: c.begun, Audit: c.options.Audit}
}

// Close removes temporary files.
func (c *Cascade) Close() error { return c.spill.Close() }

// entry is a request that the model is sure about at the lowest threshold.
type entry struct {
	id         [idSize]byte // a hash of the request, whose order is random
	confidence float64
	answered   bool // since the plan began
	disagreed  bool
}

const (
	idSize    = 16
	entrySize = idSize + 8 + 1
)

// hash is the beginning of an id.
func hash(id [idSize]byte) uint64 { return binary.BigEndian.Uint64(id[:]) }

// idOf depends on the request, the model, the settings of the run and the number of the plan alone, so that all starts ask for
// the same sample.
func (c *Cascade) idOf(r client.Request) (id [idSize]byte) {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%s\x00%s", c.options.Source, c.options.Run, c.plan.Number, r.Classification, r.Input))
	copy(id[:], sum[:])
	return id
}

// Offer offers requests of the run, after they were looked up. The same request may be offered several times.
func (c *Cascade) Offer(requests []answers.Query) error {
	if c.unplanned() {
		return nil
	}
	entries := make([]entry, len(requests)) // without an id if the request is none of the model's
	var group errgroup.Group
	group.SetLimit(runtime.GOMAXPROCS(0))
	for i := range requests {
		q, e := &requests[i], &entries[i]
		if q.Request.Classification != c.options.Classification || q.Found && q.Outcome.AskedAt().Before(c.plan.Begun) {
			continue
		}
		group.Go(func() error {
			predicted, sure := c.predict(q.Request)
			if !sure {
				return nil
			}
			*e = entry{id: c.idOf(q.Request), confidence: predicted[0].Confidence, answered: q.Found, disagreed: q.Found && !agrees(predicted, q.Outcome)}
			return nil
		})
	}
	_ = group.Wait() // there are no errors
	for i := range entries {
		if e := &entries[i]; e.id != ([idSize]byte{}) {
			if err := c.spill.Add(e.append(nil)); err != nil {
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
		id: [idSize]byte(b), confidence: math.Float64frombits(binary.BigEndian.Uint64(b[idSize:])),
		answered: b[entrySize-1]&1 != 0, disagreed: b[entrySize-1]&2 != 0,
	}
}

// predict returns the answer of the model, and whether the model is sure at the lowest threshold. The model is not sure
// about an input that it cannot read.
func (c *Cascade) predict(r client.Request) (entries []client.Entry, sure bool) {
	a, err := c.options.Model.Categorize(context.Background(), r) // needs no service, so that there is nothing to cancel
	if err != nil || len(a.Entries) == 0 {
		return nil, false
	}
	return a.Entries, a.Entries[0].Confidence >= c.options.Threshold
}

// agrees reports whether the first category of the model is the best of the service.
func agrees(predicted []client.Entry, o answers.Outcome) bool {
	return o.Rejection == nil && len(o.Answer.Entries) > 0 && o.Answer.Best().Value == predicted[0].Value
}

// each calls visit for each different entry, in the order of the ids.
func (c *Cascade) each(visit func(entry)) error {
	var last entry // of several with the same id, the one that the most is known about
	for b, err := range c.spill.Sorted() {
		if err != nil {
			return err
		}
		e := parseEntry(b)
		if e.id != last.id && last.id != ([idSize]byte{}) {
			visit(last)
		}
		last = e
	}
	if last.id != ([idSize]byte{}) {
		visit(last)
	}
	return nil
}

// unplanned reports whether nothing is free in an offline run, because no plan of its requests is in the store.
func (c *Cascade) unplanned() bool { return c.options.Offline && !c.planned }

// Plan ends the offers; digest is that of the different requests of the run, in all classifications. A plan holds for its
// requests alone. If an earlier start made it for others, a new plan begins: Plan is true, and the requests are to be offered
// once more. In an offline run nothing is free then.
func (c *Cascade) Plan(digest string) (again bool, err error) {
	if c.planned && c.plan.Digest != digest {
		c.renew()
		return !c.options.Offline, c.spill.Close()
	}
	c.plan.Digest = digest
	if !c.planned && !c.options.Offline {
		if err := c.choose(); err != nil {
			return false, err
		}
	}
	return false, c.count()
}

// choose chooses the thresholds of a new plan.
func (c *Cascade) choose() error {
	var counts histogram
	if err := c.each(counts.add); err != nil {
		return err
	}
	c.plan.choose(&counts, c.options.Threshold)
	return nil
}

// count counts the requests and the outcomes of each step, and finds the step of the run.
func (c *Cascade) count() error {
	least := int64(0) // the samples of a plan are fixed
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
		c.plan.Steps[i].limit(i+1, c.options.Precision)
	}
	c.at = c.plan.passing()
	return err
}

// Save keeps the plan in the store. It precedes the first request.
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

// step is the step of the run; nil if nothing is free.
func (c *Cascade) step() *step {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.at == len(c.plan.Steps) {
		return nil
	}
	return &c.plan.Steps[c.at]
}

// Answer answers a request that has no stored outcome, and names the source. It is false if the request is to be asked:
// the model is not sure, or the request is in the sample.
func (c *Cascade) Answer(r client.Request) (a client.Answer, source string, ok bool) {
	s := c.step()
	if s == nil || r.Classification != c.options.Classification || c.plan.Audit > 0 && s.holds(hash(c.idOf(r))) {
		return client.Answer{}, "", false
	}
	predicted, sure := c.predict(r)
	if !sure || predicted[0].Confidence < s.Threshold {
		return client.Answer{}, "", false
	}
	return client.Answer{Entries: predicted, Free: true, AnsweredAt: c.plan.Begun}, c.options.Source, true
}

// Count takes the outcome of a request that was asked. The error is ErrRaised as soon as the audit of the step has failed
// for certain.
func (c *Cascade) Count(r client.Request, o answers.Outcome) error {
	if r.Classification != c.options.Classification || c.plan.Audit == 0 {
		return nil
	}
	h := hash(c.idOf(r))
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
	if c.at < c.plan.passing() {
		return ErrRaised
	}
	return nil
}

// Raise goes on to the next step whose audit has not failed, and returns the audit of the step that has.
func (c *Cascade) Raise() (failed Audit) {
	failed = c.Audit()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.plan.passing()
	return failed
}

// Free is the number of requests that are not asked; 0 for nil.
func (c *Cascade) Free() int64 {
	if c == nil {
		return 0
	}
	if s := c.step(); s != nil {
		return s.free
	}
	return 0
}

// AtRisk is the number of the free requests that are asked if the audits fail; 0 for nil, and if the audit of the step cannot
// fail any more.
func (c *Cascade) AtRisk() int64 {
	if c == nil {
		return 0
	}
	if s := c.step(); s != nil && c.plan.Audit > 0 && s.disagreed+s.missing() > s.most {
		return s.free
	}
	return 0
}

// Audit says how the run answers for nothing, by now.
func (c *Cascade) Audit() Audit {
	a := Audit{Source: c.options.Source, Begun: c.plan.Begun, Precision: c.options.Precision}
	c.mu.Lock()
	defer c.mu.Unlock()
	at := c.at
	if at == len(c.plan.Steps) {
		if a.Cause = c.cause(); a.Cause != AuditFailed {
			a.Requests = c.sure
			return a
		}
		at-- // the last that has failed
	} else {
		a.Step = at + 1
	}
	s := &c.plan.Steps[at]
	a.Threshold, a.Requests, a.Sample, a.Disagreed, a.Missing = s.Threshold, s.requests, s.sample, s.disagreed, s.missing()
	a.state()
	return a
}

// cause is why nothing is free.
func (c *Cascade) cause() Cause {
	switch {
	case c.unplanned():
		return Unplanned
	case len(c.plan.Steps) > 0:
		return AuditFailed
	case c.sure > 0:
		return TooFew
	}
	return NoneSure
}

// leastSample is the least number of requests of a sample: 300 for a precision up to 95%, and more for a finer one, so that
// some answers may differ and the bound still reaches the precision.
func leastSample(precision float64) int64 {
	return max(300, int64(math.Ceil(15/(1-precision))))
}
