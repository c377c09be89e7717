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
// Both sides are read once. Each version goes to the partition of the hash of its key, in a temporary file per side
// (spill.go). The partitions are compared one after the other, each in memory (partition.go), and the changes of all
// partitions are merged in the order of the records (merge.go). So memory is bounded by the keys of a partition, about
// 8 MB of each output. The result is that of a full outer join of the first rows of both sides by key.
package diff
