// Package evaluate compares answers with labels. It measures how often answers are right, at each level of the taxonomy, and
// how well their confidences are calibrated.
//
// Terms:
//
//   - label: the allowed values for an input, separated by '|'. An allowed value is a path or, for NAICS, a code or the
//     beginning of a code.
//   - levels: a path's names from the top, or a code's sector and its first 3, 4, 5 and 6 digits. A sector may have several
//     numbers, such as 31 to 33.
//   - right: an answered value is right if it begins with the levels of an allowed
//     value.
//   - top-1, top-3: the share of labelled records with a right answer in the first entry, or in the first three. A record
//     without an answer counts as wrong.
//   - calibration error: the mean difference between mean confidence and share right, over the bins of confidence, weighted by
//     their records (expected calibration error).
package evaluate
