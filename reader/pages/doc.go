// Package pages opens Parquet files for package parquet, which trusts the sizes and counts in a file. A [File] has the rows
// of the file, or an error that names the row group and the column:
//
//   - Pages are decompressed here, to exactly the size that their header has, and so are both formats of LZ4. The library
//     sees pages without compression.
//   - A page has at most 100 MiB, and the buffers and current pages of a file have at most 192 MiB. A page with
//     many indexes of a dictionary is given to the library in parts: see splitValues.
//   - The checksum of a page is checked if the page has one.
//   - The levels and the values of a page are counted, since the library fills in zeros for values that are missing.
//   - A column chunk ends after the number of values that the metadata has, and must then have the rows of its row
//     group.
//   - A panic of the library is an error.
//
// Terms are those of the Parquet format: https://parquet.apache.org/docs/file-format/.
package pages
