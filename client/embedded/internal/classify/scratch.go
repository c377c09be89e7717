package classify

import "github.com/bulkcat/bulkcat/client/embedded/internal/words"

// scratch is the working memory of one classification. It lists the elements that are set, and clear resets them: between uses,
// all elements are zero or noTerm.
type scratch struct {
	reader words.Reader
	tokens []token // of a title
	joined []byte  // two words of a title as one

	weight []float32 // by term
	place  []float32 // by term of a title: the place weight of a phrase that ends in the term
	pairs  []float32 // by pair
	hits   []hit     // by phrase
	scores []float32 // by category
	best   []int32   // by category: its best phrase in a title, from 1; 0 without
	raised []float32 // by category: the best score of a descendant that the category matches as well as: see raiseParents
	tops   []float32 // by top-level category: the sum of the scores under it

	terms      []int32 // the elements that are set, as in the lists below
	pairList   []int32
	phrases    []int32
	categories []int32
	topList    []int32

	name     []nameWord // the words of a host and a path, if there is no page
	nameHead int32      // the term of a host's last word
	domain   int32      // the term of the top-level domain's meaning

	ranked          []ranked
	linkConfidence  float64 // the confidence of the base's best category for a linked title
	naming, unknown int     // of a title: the number of words that may name the product, and how many of them no phrase holds
	words           int     // of a document: the number of words read
	mass            float32 // the weighted idf of all terms in the text
}

// token is a word of a title.
type token struct {
	term     int32 // -1 if no phrase holds the word
	weight   float32
	place    float32 // the place weight of a phrase that ends in the word, if the word is the segment's head
	segment  int32   // the number of the segment; noSegment for a brand and for two words joined
	modifier bool    // see package documentation
}

// nameWord is a word of a host or a path that is no stop word.
type nameWord struct {
	term    int32
	letters int
}

// The values for no term, no segment and no category.
const (
	noTerm     = -1
	noSegment  = -1
	noCategory = -1
)

// hit collects the parts of one phrase in a text.
type hit struct {
	overlap float32 // weighted idf of the phrase's terms in the text
	covered float32 // idf of these terms
	pair    float32 // least weight of its pairs in the text
	pairs   int32   // the number of its pairs in the text
	head    float32 // the place weight of its head, 0 if the text does not have the head
}

// ranked is a category with its score.
type ranked struct {
	category int32
	score    float32
}

func newScratch(x *index, categories int) *scratch {
	return &scratch{
		weight:   make([]float32, len(x.idf)),
		place:    make([]float32, len(x.idf)),
		pairs:    make([]float32, len(x.pairs)),
		hits:     make([]hit, len(x.phrases)),
		scores:   make([]float32, categories),
		best:     make([]int32, categories),
		raised:   make([]float32, categories),
		tops:     make([]float32, categories),
		nameHead: noTerm, domain: noTerm,
	}
}

// add adds to an element, and lists the element when it is first set.
func add(elements []float32, set *[]int32, i int32, value float32) {
	if elements[i] == 0 {
		*set = append(*set, i)
	}
	elements[i] += value
}

func (s *scratch) count(term int32, weight float32) { add(s.weight, &s.terms, term, weight) }

func (s *scratch) countPair(pair int32, weight float32) { add(s.pairs, &s.pairList, pair, weight) }

func (s *scratch) addScore(category int32, score float32) {
	if category != noCategory {
		add(s.scores, &s.categories, category, score)
	}
}

func (s *scratch) addTop(top int32, score float32) {
	if top != noCategory {
		add(s.tops, &s.topList, top, score)
	}
}

// clear resets all elements that were set.
func (s *scratch) clear() {
	for _, t := range s.terms {
		s.weight[t], s.place[t] = 0, 0
	}
	for _, p := range s.pairList {
		s.pairs[p] = 0
	}
	for _, p := range s.phrases {
		s.hits[p] = hit{}
	}
	for _, c := range s.categories {
		s.scores[c], s.best[c], s.raised[c] = 0, 0, 0
	}
	for _, c := range s.topList {
		s.tops[c] = 0
	}
	s.words, s.mass, s.linkConfidence, s.naming, s.unknown = 0, 0, 0, 0, 0
	s.reader.Reset("") // do not keep the caller's text
	s.tokens, s.ranked = s.tokens[:0], s.ranked[:0]
	s.terms, s.pairList, s.phrases = s.terms[:0], s.pairList[:0], s.phrases[:0]
	s.categories, s.topList = s.categories[:0], s.topList[:0]
	s.name, s.nameHead, s.domain = s.name[:0], noTerm, noTerm
}
