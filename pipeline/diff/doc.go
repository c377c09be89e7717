// Package diff compares two outputs: which inputs were added and removed, and whose category or confidence changed.
//
// # Terms
//
//	side      an output, the old or the new one, of any format and shape
//	key       the input of a request, by the rule of the run for equal inputs, and a classification; equal inputs of a side are one key, with the record of the lowest number
//	version   the status and the category of the highest confidence of a key in a side
//	change    the difference between the two versions of a key: see [Kind]
//	move      a change from one category of a level to another: see [Move]
//
// # How
//
// Both sides are read once. Package spill sorts their versions by key, so that the two of a key follow each other, and then
// the changes by record (compare.go). So memory does not grow with the outputs. The result is that of a full outer join of the
// first rows of both sides by key.
package diff
