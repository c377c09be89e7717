// Package labelled uses inputs whose categories are known: a model learns from labelled inputs ([Learn]), a service is
// evaluated with labelled inputs ([Evaluate]), and answers that were paid for elsewhere are imported into a store ([Table]).
// The labels are a column of a list, or the answers in a store ([ReadLabels]).
package labelled
