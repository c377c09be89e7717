package refresh

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/answers/archive"
)

// Stats is what a store holds, how old its answers are, and how many are probably out of date.
type Stats struct {
	archive.Stats
	Freshness []Freshness `json:"freshness"` // of the groups, in their order
}

// StatsOf reads a whole store. The error is that of archive.Count; the statistics are then those of the answers
// before the error.
func StatsOf(store *answers.Store, now time.Time) (Stats, error) {
	v := &survey{store: store, now: now, models: make(map[string]*model), groups: make(map[Group]*Freshness)}
	counted, err := archive.Count(store, v.add)
	return Stats{counted, v.freshness()}, err
}

// survey collects the ages of the answers of a store.
type survey struct {
	store  *answers.Store
	now    time.Time
	models map[string]*model // by source
	groups map[Group]*Freshness
}

// Group is the answers of one source to one kind of request.
type Group struct {
	Source         string      `json:"source"`
	Kind           client.Kind `json:"kind"`
	Classification string      `json:"classification"`
}

// Freshness is the age of a group's answers, without rejections, and what refreshes have found.
type Freshness struct {
	Group
	Ages []Ages `json:"ages"`

	AskedAgain int64    `json:"asked_again"`           // answers of the source; older refreshes count less
	Random     int64    `json:"asked_again_at_random"` // of these
	OutOfDate  *float64 `json:"out_of_date,omitempty"` // estimate of the share; nil before the first refresh

	sum float64 // of the probabilities
}

// Ages is the number of answers that the service gave last within so many days; Days is 0 for older answers.
type Ages struct {
	Days    int   `json:"within_days,omitempty"`
	Answers int64 `json:"answers"`
}

// add adds a stored answer.
func (v *survey) add(a answers.Stored) error {
	m := v.models[a.Source]
	if m == nil {
		h, err := historyOf(v.store, a.Source)
		if err != nil {
			return err
		}
		m = h.fit()
		v.models[a.Source] = m
	}
	of := Group{a.Source, a.Request.Kind, a.Request.Classification}
	f := v.groups[of]
	if f == nil {
		f = &Freshness{
			Group: of, Ages: []Ages{{Days: 7}, {Days: 30}, {Days: 90}, {Days: 365}, {}},
			AskedAgain: int64(m.asked.Asked + 0.5), Random: int64(m.asked.Random + 0.5),
		}
		v.groups[of] = f
	}
	if a.Outcome.Rejection != nil {
		return nil
	}
	days := max(0, v.now.Sub(a.Outcome.AskedAt()).Hours()/24)
	for i := range f.Ages {
		if within := f.Ages[i].Days; within == 0 || days <= float64(within) {
			f.Ages[i].Answers++
			break
		}
	}
	f.sum += m.outOfDate(stratumOf(a.Request, a.Outcome, days), days)
	return nil
}

// freshness returns the results, sorted by source, kind and classification.
func (v *survey) freshness() []Freshness {
	list := []Freshness{}
	for _, f := range v.groups {
		answers := int64(0)
		for _, a := range f.Ages {
			answers += a.Answers
		}
		if f.AskedAgain > 0 && answers > 0 {
			share := f.sum / float64(answers)
			f.OutOfDate = &share
		}
		list = append(list, *f)
	}
	slices.SortFunc(list, func(a, b Freshness) int {
		return cmp.Or(cmp.Compare(a.Source, b.Source), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Classification, b.Classification))
	})
	return list
}

// WriteText writes the statistics as lines of text.
func (s Stats) WriteText(out io.Writer) error {
	var b strings.Builder
	for i, g := range s.Groups {
		fmt.Fprintf(&b, "%s %s %s\n  answers     %d\n  rejections  %d\n  oldest      %s\n  newest      %s\n",
			g.Source, g.Kind, g.Classification, g.Answers, g.Rejections,
			g.Oldest.Format(time.RFC3339), g.Newest.Format(time.RFC3339))
		if i < len(s.Freshness) { // there are fewer if the store could not be read to its end
			s.Freshness[i].write(&b)
		}
	}
	fmt.Fprintf(&b, "damaged  %d\nsize     %d bytes\n", s.Damaged, s.Bytes)
	_, err := io.WriteString(out, b.String())
	return err
}

func (f *Freshness) write(b *strings.Builder) {
	ages := make([]string, len(f.Ages))
	for i, a := range f.Ages {
		ages[i] = fmt.Sprintf("%d within %dd", a.Answers, a.Days)
		if a.Days == 0 {
			ages[i] = fmt.Sprintf("%d older", a.Answers)
		}
	}
	outOfDate := "unknown: use --refresh-budget"
	if f.OutOfDate != nil {
		outOfDate = fmt.Sprintf("%.1f%% (estimate: %d answers of the service asked again, %d of them chosen at random)", 100**f.OutOfDate, f.AskedAgain, f.Random)
	}
	fmt.Fprintf(b, "  ages        %s\n  out of date %s\n", strings.Join(ages, ", "), outOfDate)
}
