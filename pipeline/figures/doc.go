// Package figures shows the figures of a run, on the page of a run, in its report and in a terminal.
//
//	numbers as text   words.go
//	charts            chart.go, axis.go, figures.html: SVG, drawn in Go, without scripts
//	colors, tables    figures.css, for light and dark screens
//	bars of text      bar.go
//
// In a chart the text keeps its size while the lines scale: positions are percentages of the chart, and only the lines are in
// a coordinate system of their own.
package figures
