// Package pages reads the values of Parquet files. The library decodes values and dictionaries, and trusts the content. A [File]
// has the rows of the file, or an error that names the row group and the column:
//
//   - Pages are decompressed to the size in their header, also pages in both formats of LZ4.
//   - A page has at most 100 MiB, and the current pages and buffers of a file have at most 192 MiB. Levels, and the indexes
//     of a dictionary, are decoded as they are read.
//   - The checksum of a page is checked if the page has one.
//   - A column chunk has the number of values that the metadata has, and the rows of its row group.
//   - A panic of the library is an error.
//
// The terms are from the Parquet format: https://parquet.apache.org/docs/file-format/.
package pages
