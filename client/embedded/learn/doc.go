// Package learn trains models on labelled inputs. A model classifies into a taxonomy better than the built-in engine alone.
//
// Terms:
//
//   - label: the allowed categories of an input, separated by '|', as in package evaluate.
//   - class: the set of allowed categories of at least one label.
//   - example: an input with its label.
//   - feature: a word, two adjacent words, 3 to 5 letters of a word or a host name, or a category in the answer of the built-in
//     engine. A hash identifies a feature.
//   - share: the probability of a class by the linear model, a softmax over the weighted features.
//   - candidate: a category that may be the answer: from a class with a share, or from the engine.
//   - utility: the score of a candidate: a weighted sum of its share and of the engine's confidences (stack.go). The weights
//     are fitted to the examples, and shrunk towards weights that fit other data.
//   - confidence: the probability that an answer is right (confidence.go).
//   - cross-validation: each example is answered by a model that was trained on other examples. A class of a single example is missing in that model, just as new classes are missing in the final model.
//
// The same examples in the same order give the same model.
package learn
