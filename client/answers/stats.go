package answers

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/ncruces/go-sqlite3"

	"github.com/bulkcat/bulkcat/client"
)

// Stats counts the contents of a store.
type Stats struct {
	Groups []Group `json:"groups"` // by source, kind and classification
	Bytes  int64   `json:"bytes"`  // of the store's files
}

// Group is the answers of one source to one kind of request.
type Group struct {
	Source         string      `json:"source"`
	Kind           client.Kind `json:"kind"`
	Classification string      `json:"classification"`
	Answers        int64       `json:"answers"`
	Rejections     int64       `json:"rejections"`
	Oldest         time.Time   `json:"oldest"`
	Newest         time.Time   `json:"newest"`
	Ages           []Ages      `json:"ages"` // of the answers; rejections are not counted
}

// Ages is the number of answers that the service last gave within Days days, but not within the Days of the previous element.
// Days is 0 for all older answers.
type Ages struct {
	Days    int   `json:"within_days,omitempty"`
	Answers int64 `json:"answers"`
}

// Stats counts the answers of all sources.
func (s *Store) Stats(now time.Time) (Stats, error) {
	stats := Stats{Groups: []Group{}}
	bounds := []int{7, 30, 90, 365, 0}
	sql := "SELECT service, kind, classification, sum(outcome = 'answer'), sum(outcome = 'rejection'), min(asked_at), max(asked_at)"
	since := make([]any, 0, len(bounds))
	for _, days := range bounds {
		sql += ", sum(outcome = 'answer' AND asked_at >= ?)"
		at := int64(-1 << 63)
		if days > 0 {
			at = now.AddDate(0, 0, -days).UnixMicro()
		}
		since = append(since, at)
	}
	err := s.read(func(c *conn) error {
		return c.query(sql+" FROM answers GROUP BY 1, 2, 3 ORDER BY 1, 2, 3", func(row *sqlite3.Stmt) error {
			g := Group{
				Source: row.ColumnText(0), Kind: client.Kind(row.ColumnText(1)), Classification: row.ColumnText(2),
				Answers: row.ColumnInt64(3), Rejections: row.ColumnInt64(4),
				Oldest: time.UnixMicro(row.ColumnInt64(5)).UTC(), Newest: time.UnixMicro(row.ColumnInt64(6)).UTC(),
			}
			before := int64(0)
			for i, days := range bounds {
				within := row.ColumnInt64(7 + i)
				g.Ages = append(g.Ages, Ages{days, within - before})
				before = within
			}
			stats.Groups = append(stats.Groups, g)
			return nil
		}, since...)
	})
	stats.Bytes = s.Size()
	return stats, err
}

// WriteText writes the statistics as lines of text.
func (s Stats) WriteText(out io.Writer) error {
	var b strings.Builder
	for _, g := range s.Groups {
		fmt.Fprintf(&b, "%s %s %s\n  answers     %d\n  rejections  %d\n  oldest      %s\n  newest      %s\n",
			g.Source, g.Kind, g.Classification, g.Answers, g.Rejections,
			g.Oldest.Format(time.RFC3339), g.Newest.Format(time.RFC3339))
		ages := make([]string, len(g.Ages))
		for i, a := range g.Ages {
			ages[i] = fmt.Sprintf("%d within %dd", a.Answers, a.Days)
			if a.Days == 0 {
				ages[i] = fmt.Sprintf("%d older", a.Answers)
			}
		}
		fmt.Fprintf(&b, "  ages        %s\n", strings.Join(ages, ", "))
	}
	fmt.Fprintf(&b, "size     %d bytes\n", s.Bytes)
	_, err := io.WriteString(out, b.String())
	return err
}
