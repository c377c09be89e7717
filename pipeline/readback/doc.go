// Package readback reads the outputs of runs back: files and folders of parts, in each format and shape. It lists the files of
// an output, reads them with package reader, and converts their records to rows.
//
// # Terms
//
//	output  a file, or a folder of parts, as package writer publishes them: see [List]
//	row     a row of a file, as package writer takes it; a row of the shape nested has the rows of its categories
//	group   the rows of a record in a classification, which are adjacent in one file
//
// Memory is bounded by a row, or by a group, whatever the size of the output.
package readback
