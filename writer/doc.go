// Package writer makes rows of the outcomes of records, and writes the rows to files that appear whole or not at
// all.
//
// # Terms
//
// A [Result] is the outcome of one record in one classification: a status, and the entries of the answer.
// [Schema.Flatten] makes rows of a Result in a [Shape]: a [Row] per entry (long), a row with the first entry (top), or a
// row with a list of the entries (nested). A Result without entries has a single row in each shape. A record with
// several classifications has a Result for each, in order, and the column classification distinguishes their rows.
//
// A [Schema] says which columns the rows have. All formats have the same columns in the same order. The column
// category_id is the id of the category in its taxonomy, as text, because some ids are not numbers. The column title
// exists only with codes.
//
// A [Sink] writes rows in record order, in one [Format]. [Open] returns one of three kinds:
//
//   - A file is a draft under a temporary name until Close publishes it, that is, syncs and renames it. Until then an
//     earlier file of the same name stays.
//   - A folder holds parts (part-00001.parquet, part-00002.parquet, ...). The sink publishes each part when it is
//     full, and never splits the rows of a record. The empty file _SUCCESS appears last: a folder without it is not
//     complete.
//   - A stream (the path "-") is standard output, where nothing can be published or removed.
//
// # Determinism
//
// The bytes of a file depend only on its rows, schema and metadata, and not on the batches of rows. Invalid UTF-8 is
// replaced (each run of invalid bytes by U+FFFD), and a confidence that is not finite is null.
//
// # Errors
//
// A failure to write or to publish is a *disk.Error, which names the output. An unknown format is a [*FormatError]. The
// errors of a sink are sticky: every later call returns the first error, and Close then removes the draft instead of
// publishing it.
package writer
