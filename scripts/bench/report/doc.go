// Package report turns measurements into tables.
//
// A sample has the values of one figure in several rounds. Its median is the figure; its minimum
// and maximum are the spread. A claim is a sample with a bound.
package report
