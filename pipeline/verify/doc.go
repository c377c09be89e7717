// Package verify checks the output of a run: it reads the output, and compares it with its account, its
// input and the stored answers.
//
// # Terms
//
// The output is a file, or a folder of parts, as package writer publishes them. It is compared with
//
//	itself       every record once, in order, its rows together and without contradictions
//	the account  counts by status, and size and hash of each file
//	the input    the input and the carried columns of each record, and the hashes of the files
//	the store    the entries of each record, or the reason of its rejection
//
// All but the first may be missing. A [Finding] is a difference. An output without findings is balanced.
//
// # Independence
//
// Text is read with encoding/csv and encoding/json, and Parquet with the column types in the file. The
// package shares no code with the writer, except for [writer.Schema], which defines the columns.
//
// Memory does not grow with the output: one record of the output and one of the input are held at a time.
package verify
