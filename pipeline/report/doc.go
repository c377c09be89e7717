// Package report summarizes the results of a run: the rows of its output, its account and its journal.
//
// # Parts
//
//	Summary   counts of the rows: coverage, the tree of categories, confidences, records worth a look (summary.go, tally.go)
//	Report    a Summary, and the run: settings, starts, cost, time line (report.go)
//	HTML      one file without scripts that loads nothing; charts are SVG of package figures (html.go, report.html, style.css)
//	Treemap   categories of two levels as rectangles in the HTML (treemap.go)
//	Markdown  the main figures, for chats; JSON has all of them (markdown.go, report.md)
//	Top       the largest categories of a level, for the terminal (top.go)
//
// # Counts
//
// A record counts once, for its category of the highest confidence, so that the shares add up to 1. Category.Rows counts all
// ranks. The records of a category include the records of the categories below it.
//
// Memory does not grow with the rows: [Summarize] keeps the distinct categories, up to 200,000 of them, the distinct
// reasons, up to 64 of a status, 20 examples of each kind, and the first record of each category of level 1.
//
// All texts of inputs and services are escaped, cut, and without control characters.
package report
