package terminal

import (
	"fmt"
	"io"
	"strings"

	"github.com/schollz/progressbar/v3"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/figures"
)

const (
	leastBar = 8 // columns
	mostBar  = 24
)

// barLine returns the status in one line of a terminal. The most important words come first, words that do not fit are left out,
// and the bar fills the rest. All characters except those of a currency are ASCII, which is one column wide in every terminal.
func barLine(s status, columns int) string {
	columns-- // some terminals wrap when their last column is used
	const around = len("100% [] ")
	words := fitting(s.words(), columns-around-leastBar)
	width := min(mostBar, columns-around-len(words))
	line := words
	if s.Total > 0 && width > 0 {
		line = drawBar(min(s.Records, s.Total), s.Total, width, words)
	}
	return line[:max(0, min(len(line), columns))]
}

func drawBar(n, total int64, width int, words string) string {
	bar := progressbar.NewOptions64(total,
		progressbar.OptionSetWriter(io.Discard),
		progressbar.OptionSetTheme(progressbar.ThemeASCII),
		progressbar.OptionSetWidth(width),
		progressbar.OptionSetPredictTime(false), // it would use the average over the whole run
		progressbar.OptionShowDescriptionAtLineEnd(),
		progressbar.OptionSetDescription(words),
	)
	_ = bar.Set64(n) // writes nothing that could fail
	_ = bar.RenderBlank()
	return strings.Join(strings.Fields(bar.String()), " ")
}

// words returns the figures beside the bar, the most important figure first.
func (s status) words() []string {
	count := short(s.Records)
	if s.Total > 0 {
		about := ""
		if s.About {
			about = "~" // one column wide in every terminal
		}
		count += "/" + about + short(s.Total)
	}
	words := []string{count}
	add := func(wanted bool, format string, args ...any) {
		if wanted {
			words = append(words, fmt.Sprintf(format, args...))
		}
	}
	waiting, left := s.waiting(), s.left()
	add(waiting != "", "%s", waiting)
	add(left != "", "%s", left)
	rate := s.RecordsPerSecond
	add(rate >= 10, "%.0f/s", rate)
	add(rate > 0 && rate < 10, "%.1f/s", rate)
	add(s.Unanswered > 0, "%s unanswered", short(s.Unanswered))
	add(s.ToRetry > 0, "%s to retry", short(s.ToRetry))
	if s.Cost != nil {
		add(true, "%s", s.Cost.Price.Text(s.Cost.Total))
	}
	if s.Quota != nil {
		add(true, "quota %s", short(*s.Quota))
	}
	return words
}

// waiting says since when the run waits for the service or the quota; "" if the run does not wait.
func (s status) waiting() string {
	since := s.Since.Local().Format("15:04")
	switch s.State {
	case account.Outage:
		return "waiting since " + since
	case account.Limited:
		return "limited, waiting since " + since
	case account.QuotaPause:
		return "waiting for quota since " + since
	}
	return ""
}

// left says when the run will end, or when the quota or another limit will stop it; "" if unknown.
func (s status) left() string {
	if s.Ends == nil {
		return ""
	}
	switch left := figures.Duration(s.Ends.Sub(s.Updated)); s.Stop {
	case "":
		return left + " left"
	case account.QuotaExhausted:
		return "quota ends in " + left
	default:
		return "stops in " + left
	}
}

// fitting joins as many words as fit.
func fitting(words []string, columns int) string {
	line := ""
	for i, w := range words {
		if i > 0 {
			w = ", " + w
		}
		if len(line)+len(w) > columns && i > 0 {
			break
		}
		line += w
	}
	return line
}

// short formats a count in at most seven characters.
func short(n int64) string {
	switch {
	case n < 1_000_000:
		return fmt.Sprint(n)
	case n < 1_000_000_000:
		return fmt.Sprintf("%.2fM", float64(n)/1e6)
	}
	return fmt.Sprintf("%.2fG", float64(n)/1e9)
}
