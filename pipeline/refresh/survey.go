package refresh

import (
	"cmp"
	"slices"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// Survey says how old the answers of a store are, and how many are probably out of date.
type Survey struct {
	store  *answers.Store
	now    time.Time
	models map[string]*Model // by source
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

// NewSurvey begins the survey of a store at a time.
func NewSurvey(store *answers.Store, now time.Time) *Survey {
	return &Survey{store: store, now: now, models: make(map[string]*Model), groups: make(map[Group]*Freshness)}
}

// Add adds a stored answer.
func (v *Survey) Add(a answers.Stored) error {
	m := v.models[a.Source]
	if m == nil {
		h, err := historyOf(v.store, a.Source)
		if err != nil {
			return err
		}
		m = h.Fit()
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
	f.sum += m.OutOfDate(stratumOf(a.Request, a.Outcome, days), days)
	return nil
}

// Groups gives the results, sorted by source, kind and classification.
func (v *Survey) Groups() []Freshness {
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
