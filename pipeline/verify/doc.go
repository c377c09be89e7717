// Package verify is the balance sheet of a run: it reads an output back, and holds it
// against all that is known of it.
//
// # Terms
//
// The output is a file, or a folder of parts, as package writer publishes them. It is held
// against
//
//	itself       every record once, in order, its rows together and of one mind
//	the account  counts by status, and size and hash of each file
//	the input    each record's input and carried columns, and the files' hashes
//	the store    each record's entries, or the reason of its rejection
//
// of which all but the first may be missing. A [Finding] is one thing that is not as
// expected. An output without findings is balanced.
//
// # Independence
//
// Text is read back with encoding/csv and encoding/json, and Parquet with the columns'
// types as they stand in the file: nothing here shares code with what wrote the rows,
// except for [writer.Schema], which is the definition of the columns.
//
// Memory is flat: one record of the output, and one of the input, are held at a time.
package verify
