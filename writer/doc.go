// Package writer makes rows from the outcomes of records, and writes them to files that are published atomically.
//
// # Terms
//
// A [Result] is the outcome of one record in one classification: a status, and the entries of the answer. [Schema.Flatten]
// makes rows from a Result in a [Shape]: a [Row] per entry (long), a row with the best entry (top), or a row with a list of the
// entries (nested). A Result without entries has one row in each shape. A record has a Result for each of its classifications,
// in order, and the column classification distinguishes their rows.
//
// A [Schema] determines the columns of the rows. All formats have the same columns in the same order. The column category_id is
// the id of the category in its taxonomy, as text, because some ids are not numbers. The column title exists only with codes.
//
// A [Sink] writes rows in record order, in one [Format]. [Open] returns one of three kinds:
//
//   - A file is a draft under a temporary name. Close publishes it: it syncs and renames the draft. Until then, an earlier file
//     of the same name stays.
//   - A folder holds parts (part-00001.parquet, part-00002.parquet, ...). The sink publishes each part when it is full, and
//     never splits the rows of a record. It publishes the empty file _SUCCESS last: a folder without it is not complete.
//   - A stream (the path "-") is standard output, where nothing can be published or removed.
//
// A [Table] writes rows of another form, such as the changes between two outputs, in the same formats.
//
// # Determinism
//
// The bytes of a file depend only on its rows, schema and metadata, not on the batches of rows. Each run of invalid UTF-8 is
// replaced by U+FFFD, and a confidence that is not finite is null.
//
// # Errors
//
// A failure to write or to publish is a *disk.Error, which names the output. An unknown format is a [*FormatError]. The
// errors of a sink are sticky: every later call returns the first error, and Close then removes the draft instead of
// publishing it.
package writer
