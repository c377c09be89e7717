// Package verify checks the output of a run: it reads the output back and compares it with all
// other records of the run.
//
// # Terms
//
// The output is a file, or a folder of parts, as package writer publishes them. It is compared
// with
//
//	itself       every record once, in order, with consistent and adjacent rows
//	the account  counts by status, and size and hash of each file
//	the input    the input and the carried columns of each record, and the hashes of the files
//	the store    the entries of each record, or the reason of its rejection
//
// The account, the input and the store may be missing; [Output] opens them by the name of the output. A [Finding] is a difference from the
// expected value. An output without findings is balanced.
//
// # Independence
//
// A row of the shape nested is read as several rows, one for each category in its list, so the shapes
// share all checks; top and nested must have one row for each record and classification.
//
// Package outputs reads the rows back, Parquet with the column types in the file: no code is shared with the writer
// except [writer.Schema], the definition of the columns.
//
// Memory does not grow with the output: some hundred rows of the output and one record of the input are in memory at a
// time.
package verify
