// Package pages opens Parquet files of unknown origin, and checks each page before package parquet decodes it.
//
// The library trusts sizes and counts in a file: a file of a few KB can take gigabytes of memory, and the library
// fills in zeros for values that are missing. A [File] has the rows of the file, or an error:
//
//   - The metadata is checked for sizes that it cannot have, and read without the parts that no reader of rows needs.
//   - A page has at most 100 MiB, and the buffers and current pages of a file have at most 192 MiB. Pages that take more
//     than twice their size once they are decoded count with the size that they then take.
//   - A page with many indexes of a dictionary is given to the library in parts, see splitValues.
//   - Pages are decompressed here, to exactly the size that the page header has. The library sees pages without
//     compression.
//   - The checksum of a page is checked if the page has one.
//   - The levels and the values of a page are counted before they are decoded.
//   - A column chunk ends after the number of values that the metadata has, and must then have the rows of its row
//     group.
//
// Terms are those of the Parquet format: https://parquet.apache.org/docs/file-format/.
package pages
