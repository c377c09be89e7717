// Package writer turns what became of the records into rows, and the rows into files that
// appear whole or not at all.
//
// # Terms
//
// A [Result] is what became of one input record in one classification: its status, and the entries the
// service gave for it. [Schema.Flatten] makes rows of it: one [Row] per entry, or a single row where
// there are none. A [Schema] says which columns the rows have; every format has the same columns, in the same order,
// under the same names. The column category_id stands beside value: the id that the category has in its
// taxonomy, as text, since not all ids are numbers. The column title is there only with NAICS codes.
//
// A record that is asked for in several classifications has a Result for each, one after the other, and
// the column classification tells their rows apart.
//
// A [Sink] takes rows in record order and writes them in one [Format]. There are three kinds, all
// made by [Open]: a file, a folder of parts, and a stream.
//
//   - A file is written under a temporary name in its own folder and is published, that is, synced
//     and renamed, by Close. Until then an earlier file of that name stays as it was.
//   - A folder holds parts (part-00001.parquet, part-00002.parquet, ...). Each is published when it is
//     full. A record's rows are never split over two parts. The empty file _SUCCESS appears last:
//     a folder without it is not complete.
//   - A stream (the path "-") is standard output. Nothing can be taken back there, so nothing is
//     published.
//
// # What never reaches a file
//
// Invalid UTF-8 (each run of invalid bytes becomes U+FFFD), confidences that are not finite (null),
// and anything that differs between two runs over the same rows: the bytes of a file depend on its
// rows, schema and metadata alone, not on how the rows were batched.
//
// # Errors
//
// A failure to write or publish is an [*Error], which names the output. A format that cannot be told
// is a [*FormatError]. The first failure of a sink sticks: every later call returns it, and Close then
// removes the temporary file instead of publishing it.
package writer
