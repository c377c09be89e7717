package figures

import "strings"

// Bar returns a bar of text that fills a share of the columns, from 0 to 1. With blocks it is exact to an eighth of a column,
// and any share above 0 is visible; not every terminal has these characters. Without blocks it consists of "#".
func Bar(share float64, columns int, blocks bool) string {
	if !(share > 0) || columns <= 0 { // also NaN
		return ""
	}
	share = min(share, 1)
	if !blocks {
		return strings.Repeat("#", int(share*float64(columns)+0.5))
	}
	eighths := max(1, int(share*float64(columns)*8+0.5))
	bar := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		bar += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return bar
}
