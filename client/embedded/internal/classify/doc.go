// Package classify finds the categories of a taxonomy for a product's title, a website or a company's description. It compares
// words with the names and aliases of the categories. It has no trained model. Package words reads the texts.
//
// Terms:
//
//   - word: a run of letters and digits, in lower case, without accents.
//   - term: a word of a phrase, without its plural ending.
//   - phrase: a wording of a category: its name, one of the alternatives in its name ("Coats & Jackets"), or an alias. A bare
//     phrase is an alternative without the words that it shares with its neighbours.
//   - head: a phrase's last term, or the last before "with" or "for". A "phone
//     case" is a case, not a phone, so a phrase whose head is missing hardly counts.
//     The head of a title's segment is its last term that is the head of a phrase.
//   - modifier: a word for a colour, a size, a material, a pattern, an owner or a number of things. It is a head only if no
//     other word is.
//   - place: the weight of a phrase by the position of its head in a title. A "gas
//     grill with cover" is no grill cover, and a "cover for a gas grill" is.
//   - idiom: a pair that means something else than its second term, such as "hot dog".
//   - idf: inverse document frequency, log(1 + categories / categories that use
//     the term). Rare terms weigh more.
//   - pair: two terms that follow each other in a phrase.
//   - compound: a pair written as one word: "bedsheet" for "bed sheet".
//   - context: the terms in the names of a category's ancestors.
//   - score: the fit of a category, above 0 and without a bound.
//   - leaders: the categories with the best scores. Confidences depend on the differences between them.
//   - confidence: the probability that an entry is right, estimated from its score
//     and other evidence (confidence.go).
//   - contribution: the part of a score that comes from some words (explain.go).
//
// A title is short and names one thing, so the score of a category is the score of its best phrase (title.go). A title is read as
// an English noun phrase: the head names the product, nouns before the head give its kind, "for" precedes its purpose, "with" and
// "in" precede its parts, material or packaging, and the words after punctuation repeat the name or list features.
//
// A document is long and mentions other subjects, so the score of a category is the sum of its terms, each counted once
// (document.go). A website is a document with a name, or a name alone (website.go, host.go). Then the scores of ancestors and
// top levels are added, and the categories are ranked (rank.go).
//
// Equal inputs give equal answers: nothing depends on time, map order or concurrent calls.
package classify
