package figures

import "strings"

// Bar is a bar of text for a share of columns. Blocks are characters that not every terminal has: the bar is then exact to the
// eighth of a column, and a share that is not 0 is visible.
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
