// Package outputs reads the outputs of runs back: files and folders of parts, in each format and shape.
//
// # Terms
//
//	output   a file, or a folder of parts, as package writer publishes them: see [List]
//	row      a row of a file; a row of the shape nested counts as several, one for each category in its list
//	group    the rows of a record in a classification, which are adjacent in one file
//	batch    some thousands of rows, column by column
//
// # Two views
//
// [Scan] gives batches of the few columns that most commands need, with their types. From Parquet it reads only these
// columns, and decodes row groups in parallel; from text it keeps each distinct category once. [File.Rows] gives all
// columns of each row as text, also the carried ones: packages verify and finish read them. CSV and JSON have one
// parser for both; the names and the places of the columns are those of package writer.
//
// Memory is bounded by some batches, whatever the size of the output, and by some hundred rows for File.Rows.
package outputs
