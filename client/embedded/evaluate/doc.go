// Package evaluate compares answers with labels: how often answers are right, down to which level
// of the taxonomy, and how well their confidences are calibrated.
//
// Terms:
//
//   - label: the allowed values for an input, with '|' between them. An allowed
//     value is a path or, for NAICS, a code or the beginning of a code.
//   - levels: a path's names from the top, or a code's sector and its first 3, 4, 5
//     and 6 digits. The numbers of one sector, such as 31 to 33, are one.
//   - right: an answered value is right if it begins with the levels of an allowed
//     value.
//   - top-1, top-3: the share of labelled records whose first entry, or one of whose
//     first three, is right. A record without an answer is not.
//   - calibration error: the difference between mean confidence and share right,
//     weighted over the bins of confidence (expected calibration error). It is 0 if
//     confidences are equal to the shares right.
package evaluate
