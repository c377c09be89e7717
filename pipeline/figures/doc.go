// Package figures formats and draws the figures of a run, for its live page, its report and the terminal.
//
//	numbers as text   words.go
//	charts            chart.go, axis.go, figures.html: SVG, drawn in Go, without scripts
//	requests          requests.go: the chart of the requests of a run, by outcome
//	colors, tables    figures.css, for light and dark screens
//	bars of text      bar.go
//
// When a chart is resized, its text keeps its size: texts are placed by percentage, and only the lines have a coordinate
// system.
package figures
