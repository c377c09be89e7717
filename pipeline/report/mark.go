package report

import (
	"bytes"
	"encoding/json"
)

// The beginnings of reports, by which a later report recognizes a file that it may replace.
const (
	markdownBegin = "# Report on "
	htmlMark      = `<meta name="generator" content="bulkcat report">`
)

// htmlHead are the bytes in which a page has its mark.
const htmlHead = 4 << 10

// IsReport reports whether a text is a report, in any format.
func IsReport(text []byte) bool {
	if bytes.HasPrefix(text, []byte(markdownBegin)) || bytes.Contains(text[:min(len(text), htmlHead)], []byte(htmlMark)) {
		return true
	}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return false
	}
	for _, name := range []string{"output", "run", "summary"} { // of Report, and of no account or status
		if _, ok := members[name]; !ok {
			return false
		}
	}
	return true
}
