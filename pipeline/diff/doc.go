// Package diff compares two outputs. It finds inputs that were added or removed, or whose status, category or confidence changed.
//
// # Terms
//
//	side      the old or the new output, of any format and shape
//	key       the input of a request and a classification. Inputs of a side that are equal by the rule of its run are one key;
//	          the record with the lowest number counts.
//	version   the status and the category of the highest confidence of a key in a side
//	change    the difference between the two versions of a key: see [Kind]
//	move      a change from one category of a level to another: see [Move]
//
// # How
//
// Both sides are read once. Package spill sorts their versions by key, so that the versions of a key are adjacent, and then sorts
// the changes by record (compare.go). So memory does not grow with the outputs. The result is a full outer join of the best rows
// of both sides by key.
package diff
