// Package classify finds the categories of a taxonomy that fit a product's
// title, a website or a company's description. What it knows is the taxonomies'
// own words and the aliases written for them; no model is trained.
//
// Terms:
//
//   - word: a run of letters and digits, in lower case, without accents.
//   - term: a word with its plural ending removed that some phrase holds.
//   - phrase: one way to say a category: its name, one of the alternatives in
//     its name ("Coats & Jackets"), or an alias. A bare phrase is an alternative
//     without the words that it shares with its neighbours.
//   - head: a phrase's last term, or the last before "with" or "for". A "phone
//     case" is a case, not a phone, so a phrase whose head is missing hardly counts.
//     The head of a title's segment is its last term that is the head of a phrase.
//   - modifier: a word for a colour, a size, a material, a pattern, an owner or a
//     number of things, which is a head only where nothing else is.
//   - place: what a phrase counts by where its head stands in a title. A "gas grill
//     with cover" is no grill cover, and a "cover for a gas grill" is.
//   - idiom: a pair that names another thing than its second term, as "hot dog" does.
//   - idf: inverse document frequency, log(1 + categories / categories that use
//     the term). Rare terms tell more.
//   - pair: two terms that follow each other in a phrase.
//   - compound: a pair written as one word, as "bedsheet" is for "bed sheet".
//   - context: the terms in the names of a category's ancestors.
//   - score: how well a category fits, above 0 and without a bound.
//   - leaders: the categories with the best scores, which are compared with each
//     other to find out how sure they are.
//   - confidence: the chance that an entry is right, told by its score and what
//     else there is for and against it (confidence.go).
//   - contribution: what some words of a text add to a score (explain.go).
//
// A title is short and names one thing, so a category is worth its best phrase
// (title.go). Its words are read as those of an English noun phrase: the head names
// the product, nouns before it tell what kind, "for" opens what the product serves,
// "with" and "in" open its parts, material or packaging, and what follows punctuation
// restates it or lists features.
//
// A document is long and speaks around its subject, so a category is worth what every
// term says for it, once (document.go). A website is a document with a name, or a name
// alone (website.go, host.go). All then look at the categories around it, and rank
// (rank.go).
//
// Equal inputs give equal answers: nothing depends on time, map order or what
// runs beside it.
package classify
