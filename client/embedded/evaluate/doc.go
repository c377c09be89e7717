// Package evaluate measures answers against labels: how often they are right, at
// which level of the taxonomy, and whether their confidences can be believed.
//
// Terms:
//
//   - label: what is right for an input, one allowed value or several with '|'
//     between them. An allowed value is a path or, for NAICS, a code or the
//     beginning of one.
//   - levels: a path's names from the top, or a code's sector and its first 3, 4, 5
//     and 6 digits. The numbers of one sector, such as 31 to 33, are one.
//   - right: an answered value is right when it equals an allowed one or lies below
//     it, that is, when it begins with the levels of an allowed value.
//   - top-1, top-3: the share of labelled records whose first entry, or one of whose
//     first three, is right. A record without an answer is not.
//   - calibration error: the difference between mean confidence and share right,
//     weighed over the bins of confidence (expected calibration error). 0 is a
//     service that is right as often as it says.
package evaluate
