package classify

import "github.com/bulkcat/bulkcat/client/embedded/internal/words"

// scratch is the working memory of one classification. It lists the elements that are set, and clear resets them: between uses,
// all elements are zero or noTerm.
type scratch struct {
	reader words.Reader
	tokens []token // of a title
	joined []byte  // two words of a title as one

	terms  sums      // the weights of terms
	place  []float32 // by term of a title: the place weight of a phrase that ends in the term
	pairs  sums      // the weights of pairs
	scores sums      // by category
	best   []int32   // by category: its best phrase in a title, from 1; 0 without
	raised []float32 // by category: the best score of a descendant that the category matches as well as: see raiseParents
	tops   sums      // by top-level category: the sum of the scores under it

	hits    []hit   // by phrase
	phrases []int32 // the phrases with a hit

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
		terms:    newSums(len(x.idf)),
		place:    make([]float32, len(x.idf)),
		pairs:    newSums(len(x.pairs)),
		scores:   newSums(categories),
		best:     make([]int32, categories),
		raised:   make([]float32, categories),
		tops:     newSums(categories),
		hits:     make([]hit, len(x.phrases)),
		nameHead: noTerm, domain: noTerm,
	}
}

// clear resets all elements that were set.
func (s *scratch) clear() {
	for _, t := range s.terms.set {
		s.place[t] = 0
	}
	for _, p := range s.phrases {
		s.hits[p] = hit{}
	}
	for _, c := range s.scores.set {
		s.best[c], s.raised[c] = 0, 0
	}
	s.terms.clear()
	s.pairs.clear()
	s.scores.clear()
	s.tops.clear()
	s.words, s.mass, s.linkConfidence, s.naming, s.unknown = 0, 0, 0, 0, 0
	s.reader.Reset("") // do not keep the caller's text
	s.tokens, s.ranked, s.phrases = s.tokens[:0], s.ranked[:0], s.phrases[:0]
	s.name, s.nameHead, s.domain = s.name[:0], noTerm, noTerm
}

// sums are numbers by index, with a list of the indexes that are set.
type sums struct {
	value []float32
	set   []int32
}

func newSums(n int) sums { return sums{value: make([]float32, n)} }

// add adds x to an element. It ignores noCategory.
func (v *sums) add(i int32, x float32) {
	if i == noCategory {
		return
	}
	if v.value[i] == 0 {
		v.set = append(v.set, i)
	}
	v.value[i] += x
}

func (v *sums) clear() {
	for _, i := range v.set {
		v.value[i] = 0
	}
	v.set = v.set[:0]
}
