// Package report turns measurements into tables.
//
// A sample is one figure measured in several rounds: its median stands for it, its
// smallest and largest value are its spread. A claim is a sample that is to keep a bound.
package report
