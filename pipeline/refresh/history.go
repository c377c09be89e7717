package refresh

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/writer"
)

// History is what refreshes have found, by stratum.
type History map[Stratum]*StratumCounts

const (
	// mostStrata bounds the memory and the note of a history. Further strata count without their
	// top-level domain, and then without their category.
	mostStrata = 2000

	// keepsWeight is the weight of earlier refreshes after one more: services change over time.
	keepsWeight = 0.9
)

// add adds counts of a stratum.
func (h History) add(s Stratum, t StratumCounts, weight float64) {
	for _, coarser := range []Stratum{s, {Category: s.Category, Age: s.Age}, {Age: s.Age}} {
		if known := h[coarser]; known != nil || len(h) < mostStrata || coarser.Category == "" {
			if known == nil {
				h[coarser] = new(StratumCounts)
			}
			h[coarser].add(t, weight)
			return
		}
	}
}

// merged is a history with one more refresh.
func (h History) merged(refresh History) History {
	sum := make(History)
	for _, s := range h.sorted() {
		if sum.add(s, *h[s], keepsWeight); sum[s] != nil && sum[s].Asked < 0.1 {
			delete(sum, s)
		}
	}
	for _, s := range refresh.sorted() {
		sum.add(s, *refresh[s], 1)
	}
	return sum
}

func (h History) sorted() []Stratum {
	list := make([]Stratum, 0, len(h))
	for s := range h {
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b Stratum) int {
		return cmp.Or(cmp.Compare(a.Category, b.Category), cmp.Compare(a.TLD, b.TLD), cmp.Compare(a.Age, b.Age))
	})
	return list
}

// entry is a stratum in a note.
type entry struct {
	Stratum
	StratumCounts
}

// MarshalJSON makes a list of the strata.
func (h History) MarshalJSON() ([]byte, error) {
	entries := []entry{}
	for _, s := range h.sorted() {
		entries = append(entries, entry{s, *h[s]})
	}
	return json.Marshal(entries)
}

// UnmarshalJSON is the inverse of MarshalJSON.
func (h *History) UnmarshalJSON(text []byte) error {
	var entries []entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return err
	}
	*h = make(History, len(entries))
	for _, e := range entries {
		if e.Age >= 0 && e.Age < ages {
			(*h)[e.Stratum] = &e.StratumCounts
		}
	}
	return nil
}

// stratumOf returns the stratum of an answer and its age in days at a time.
func stratumOf(r client.Request, o answers.Outcome, days float64) Stratum {
	s := Stratum{Category: r.Classification, Age: ageOf(days)}
	if len(o.Answer.Entries) > 0 {
		s.Category += " " + firstLevel(r.Classification, o.Answer.Entries[0].Value)
	}
	if r.Kind == client.Website {
		s.TLD = tld(r.Input)
	}
	return s
}

// firstLevel is the first level of a category; a code without levels is its own.
func firstLevel(classification, value string) string {
	levels := writer.Schema{Levels: 1, Codes: client.Codes()}.AppendLevels(nil, classification, value)
	if len(levels) == 0 {
		return value
	}
	return levels[0]
}

// tld is the top-level domain of a website; "" for an address and a name without a dot.
func tld(website string) string {
	_, rest, _ := strings.Cut(website, "://")
	host := rest
	if end := strings.IndexAny(rest, "/:?"); end >= 0 {
		host = rest[:end]
	}
	dot := strings.LastIndexByte(host, '.')
	if dot < 0 || dot == len(host)-1 || host[dot+1] < 'a' {
		return ""
	}
	return host[dot+1:]
}
