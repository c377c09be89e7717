// Package outputs reads the outputs of runs back: files and folders of parts, in each format and shape.
//
// # Terms
//
//	output   a file, or a folder of parts, as package writer publishes them: see [List]
//	row      a row of a file; a row of the shape nested counts as several, one for each category in its list
//	group    the rows of a record in a classification, which are adjacent in one file
//	batch    some thousands of rows, column by column
//
// # Two ways
//
// [OpenFile] gives each row as text with all of its columns, and is strict about columns that differ between rows:
// package verify needs both. [Scan] gives batches of the few columns that the other commands need. From Parquet it
// reads only these columns, and decodes row groups in parallel; from text it keeps each distinct category once.
//
// Memory is bounded by some batches, whatever the size of the output.
package outputs
