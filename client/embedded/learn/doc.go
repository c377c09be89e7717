// Package learn makes models of labelled inputs: a model answers in the categories of a taxonomy, better than the
// built-in engine does alone.
//
// Terms:
//
//   - label: the allowed categories of an input, with '|' between them, as in package evaluate.
//   - class: a set of allowed categories that at least one label names.
//   - example: an input with its label.
//   - feature: a word, two adjacent words, 3 to 5 letters of a word or a host name, or a category that the built-in
//     engine answers. Features are known by a hash.
//   - share: the probability of a class by the linear model, a softmax over the weighted features.
//   - candidate: a category that may be the answer: of a class with a share, or of the engine.
//   - utility: how good a candidate is: a weighted sum of its share and of what the engine says of it (stack.go). The
//     weights are fitted to the examples, and shrunk towards weights that fit other data.
//   - confidence: the probability that an answer is right (confidence.go).
//   - cross-validation: each example is answered by a model of other examples. A class of one example is unknown to
//     that model, as new classes will be to the model of all examples.
//
// The same examples in the same order give the same model.
package learn
