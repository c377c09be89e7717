// Package classify finds the categories of a taxonomy that fit a product's
// title, a web page or a company's description. It needs no training data: what
// it knows is the taxonomies' own words and the aliases written for them.
//
// Terms:
//
//   - word: a run of letters and digits, in lower case, without accents.
//   - term: a word with its plural ending removed that some phrase holds.
//   - phrase: one way to say a category: its name, one of the alternatives in
//     its name ("Coats & Jackets"), or an alias.
//   - head: a phrase's last term. A "phone case" is a case, not a phone, so a
//     phrase whose head is missing hardly counts.
//   - idf: inverse document frequency, log(1 + categories / categories that use
//     the term). Rare terms tell more.
//   - pair: two terms that follow each other in a phrase.
//   - context: the terms in the names of a category's ancestors.
//   - score: how well a category fits, above 0 and without a bound. Confidence
//     is the score squeezed between 0 and 1.
//
// A title is short and names one thing, so a category is worth its best phrase
// (title.go). A document is long and speaks around its subject, so a category is
// worth the sum of its phrases (document.go). Both then look at the categories
// around it, and rank (rank.go).
//
// Equal inputs give equal answers: nothing depends on time, map order or what
// runs beside it.
package classify
