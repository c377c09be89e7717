// Package reader reads the records of a run from its input files.
//
// An input is a file, a glob of files, a folder of parts or standard input, in one of the formats of [FormatNames], or records
// of the caller: see [Options.Records]. The package decompresses gzip and zstd, and decodes text to UTF-8. It recognizes
// compressions and unsupported kinds of files by their first bytes: see [UnsupportedError]. A file must not change while it is
// read: see [ChangedError].
//
// # Terms
//
//   - A line is a physical line of a file, counted from 1. It ends with LF, CRLF or CR.
//   - A record is one input to categorize, with its other fields. It is one line, but a CSV record may have line ends inside
//     quotes. Records are numbered from 1 over all files of a run.
//   - The line of a record of Parquet or Excel is its row in the file.
//   - The columns are the names of a record's fields: the header of a CSV file, the top-level keys of JSONL objects, the
//     top-level fields of Parquet, the first row of a sheet. Txt has none. A run has one list of columns, the union over its
//     files.
//   - The input column is the column whose value is categorized. If there are several, their values are joined.
//   - A malformed record violates its format. It is a record with [Record.Err] set and the fields that are certain, and the
//     next record starts on the next line. So a stray quote costs one record, and not the rows after it.
//
// # Memory
//
// A [Reader] has one open file, and a buffer of little more than 1 MiB for inputs of any length. For Parquet it holds one page
// and one dictionary of each column that it reads: 2 to 3 MB for a column of pyarrow or Spark, within limits for untrusted files.
// For Excel it holds one row and up to 16 MiB of shared strings, and keeps the other strings in a temporary file. A Reader starts
// no goroutine for files. A Reader reads the records of the caller in a goroutine, because a blocked Read must be interruptible.
package reader
