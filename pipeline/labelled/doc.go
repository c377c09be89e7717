// Package labelled has what is done with inputs whose categories are known: a model learns from them ([Learn]), a service is
// measured with them ([Evaluate]), and answers that were paid for elsewhere go into a store ([Table]). The labels are a column
// of a list, or the answers of a store ([ReadLabels]).
package labelled
