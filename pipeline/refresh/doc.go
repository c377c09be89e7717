// Package refresh chooses the stored answers that are most worth asking again, and estimates how many
// stored answers are out of date.
//
// A refresh asks again for a number of stored answers, its budget. An answer has changed if the service
// gives other categories, in another order, or a rejection. A change of confidence only is no change.
//
// # The model
//
// Answers change at random times. An answer that the service gave last a days ago has changed by now with
// the probability
//
//	P = 1 - exp(-rate * a)
//
// The rate depends on the stratum of the answer: the classification and the first level of its first
// category, the top-level domain ("" for products), and the age in powers of two days. It is the product of
// five factors: one for the store, the category, the top-level domain, the age, and the stratum. So a
// stratum that was asked rarely has the rate of its category, its top-level domain and its age, and a
// stratum that was asked often has a rate of its own.
//
// Each factor has a gamma distribution with mean 1 before anything is known. Earlier refreshes have asked n
// answers of each stratum again and found c changes, where the model expects e = n * P. The mean of a factor
// f is then
//
//	f = (shape + sum of c) / (shape + sum of e / f)
//
// over all strata that have the factor. The factors are computed in rounds until they agree. Without any
// refresh all rates are equal, and the most probable changes are the oldest answers.
//
// # The choice
//
// A tenth of the budget is a random sample of all answers that may be asked again. The other answers are
// those with the highest P. Both samples are kept in heaps while the answers of the run pass by, so that
// memory depends on the budget only. The random order comes from a hash of the request, the run and the time
// at which the refresh began: a run that is started again makes the same choice, without the answers that
// are asked already.
//
// # The estimate
//
// The share that is out of date is the mean of P over the store, times the changes found in the random
// samples over those that the model expects there. The random samples do not depend on the model, so a model
// that misses a cause of changes chooses worse answers, but the estimate stays right.
//
// # What the store keeps
//
// A note per service has the counts of each stratum over all finished refreshes. Older refreshes count less.
// A refresh that has not finished has two notes of its own: when it began and how many answers it has asked,
// which each commit of answers writes, and its counts, which are written every two minutes. A process that is
// killed loses counts of two minutes, and no answer.
package refresh
