package refresh

import (
	"bytes"
	"container/heap"
	"crypto/sha256"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// Choice is an answer to be asked again.
type Choice struct {
	Stratum Stratum
	Days    float64 // since the service gave the answer last
	Random  bool    // chosen at random, not by the model

	id    id
	score float64
}

// id is a hash of a request with the seed. Its order is random.
type id [16]byte

// chooser keeps the answers that are to be asked again while all answers pass by.
type chooser struct {
	model  *model
	now    time.Time // when the refresh began
	seed   string
	random bestChoices // the smallest ids
	scored bestChoices // the highest scores
	chosen map[id]*Choice
	names  map[string]string // keeps one copy of each category and top-level domain
}

func newChooser(m *model, now time.Time, seed string, random, scored int64) *chooser {
	c := &chooser{model: m, now: now, seed: seed, chosen: make(map[id]*Choice), names: make(map[string]string)}
	c.random = bestChoices{most: random, worse: func(a, b *Choice) bool { return bytes.Compare(a.id[:], b.id[:]) > 0 }}
	c.scored = bestChoices{most: scored, worse: func(a, b *Choice) bool {
		if a.score != b.score {
			return a.score < b.score
		}
		return c.random.worse(a, b)
	}}
	return c
}

func (c *chooser) idOf(r client.Request) (of id) {
	sum := sha256.Sum256([]byte(c.seed + "\x00" + r.Classification + "\x00" + r.Input))
	copy(of[:], sum[:])
	return of
}

// offer offers a stored answer. Each answer may be offered several times.
func (c *chooser) offer(r client.Request, o answers.Outcome) {
	age := c.now.Sub(o.AskedAt())
	if o.Rejection != nil || age <= 0 { // rejected, or asked since the refresh began
		return
	}
	this := &Choice{id: c.idOf(r), Days: age.Hours() / 24}
	if c.chosen[this.id] != nil {
		return
	}
	this.Stratum = stratumOf(r, o, this.Days)
	this.score = c.model.probability(this.Stratum, this.Days)
	this.Stratum.Category, this.Stratum.TLD = c.name(this.Stratum.Category), c.name(this.Stratum.TLD)
	c.chosen[this.id] = this
	if out := c.scored.add(c.random.add(this)); out != nil {
		delete(c.chosen, out.id)
	}
}

func (c *chooser) name(text string) string {
	if _, known := c.names[text]; !known {
		text = strings.Clone(text)
		c.names[text] = text
	}
	return c.names[text]
}

// choices returns the chosen answers.
func (c *chooser) choices() map[id]*Choice {
	for _, of := range c.random.list {
		of.Random = true
	}
	return c.chosen
}

// bestChoices keeps the best of all choices that were added, in a heap with the worst first.
type bestChoices struct {
	most  int64
	worse func(a, b *Choice) bool
	list  []*Choice
}

// add adds a choice, and returns the choice that is dropped for it; nil if there is still room, and for nil.
func (s *bestChoices) add(c *Choice) (out *Choice) {
	switch {
	case c == nil:
		return nil
	case int64(len(s.list)) < s.most:
		heap.Push(s, c)
		return nil
	case s.most == 0 || s.worse(c, s.list[0]):
		return c
	}
	out, s.list[0] = s.list[0], c
	heap.Fix(s, 0)
	return out
}

func (s *bestChoices) Len() int           { return len(s.list) }
func (s *bestChoices) Less(i, j int) bool { return s.worse(s.list[i], s.list[j]) }
func (s *bestChoices) Swap(i, j int)      { s.list[i], s.list[j] = s.list[j], s.list[i] }
func (s *bestChoices) Push(c any)         { s.list = append(s.list, c.(*Choice)) }
func (s *bestChoices) Pop() any           { panic("never called: the sample does not shrink") }
