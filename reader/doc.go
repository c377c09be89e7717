// Package reader streams the records of a run out of its input files.
//
// An input is a file, a glob of files or standard input. It may be compressed
// (gzip or zstd, told by its first bytes), is decoded to UTF-8, and has one of
// three formats: csv, jsonl or txt. A file must stay as it is while it is read:
// see [ChangedError].
//
// The terms, used the same throughout:
//
//   - A line is a physical line: what stands between two line feeds. Lines are
//     counted from 1 in each file.
//   - A record is one input to categorize and whatever came with it. It is one
//     line, except for a CSV record with line feeds inside quotes. Records are
//     numbered from 1 over all files of a run.
//   - The columns are the names of what a record carries: the header of a CSV
//     file, the top-level keys of JSONL objects, nothing for txt. A run has one
//     list of columns, the union over its files.
//   - The input column is the one whose value is categorized.
//   - A malformed record is one that its format cannot explain. It is still a
//     record, with [Record.Err] set and the fields that can be told, and the
//     stream goes on with the line after the one it starts on. So one stray quote
//     costs one record, never the rows that follow it.
//
// A [Reader] holds one open file and a buffer of little more than 1 MiB,
// however long the inputs are. It starts no goroutine.
package reader
