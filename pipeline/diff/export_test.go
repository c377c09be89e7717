package diff

// The tests are in package diff_test: they import package pipeline, which imports this package. This name is for them.

var KindOf = kindOf
