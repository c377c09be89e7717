// Package reader reads the records of a run from its input files.
//
// An input is a file, a glob of files, a folder of parts or standard input, in one of the formats of [FormatNames], or
// records of the caller: see [Options.Records].
// Files of other kinds are refused by their first bytes: see [UnsupportedError]. The package
// decompresses gzip and zstd, which it recognizes by the first bytes, and decodes the text to UTF-8. A file must
// not change while it is read: see [ChangedError].
//
// # Terms
//
//   - A line is a physical line of a file, counted from 1. It ends with LF, CRLF or CR.
//   - A record is one input to categorize, with its other fields. It is one line, except for a CSV record
//     with line ends inside quotes. Records are numbered from 1 over all files of a run.
//   - The line of a record of Parquet or Excel is its row in the file.
//   - The columns are the names of a record's fields: the header of a CSV file, the top-level keys of JSONL
//     objects, the top-level fields of Parquet, the first row of a sheet, none for txt. A run has one list of columns, the union over its files.
//   - The input column is the column whose value is categorized. There may be several, whose values are joined.
//   - A malformed record violates its format. It is still a record, with [Record.Err] set and the fields
//     that are certain, and the next record starts on the next line. So a stray quote costs one record, and
//     never the rows after it.
//
// # Memory
//
// A [Reader] has one open file and a buffer of little more than 1 MiB for inputs of any length, or for Parquet one page
// and one dictionary of each column that is read: 2 to 3 MB for a column of pyarrow or Spark, and at most those of
// package pages. For Excel it has one row in memory, up to 16 MiB of shared strings, and the others in a temporary file. For
// files it starts no goroutine. A [Spool] or a [Pump] reads a pipe in a goroutine, and so does a Reader the records of the
// caller, so that a blocked Read can be interrupted.
package reader
