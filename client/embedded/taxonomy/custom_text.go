package taxonomy

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// textLine is a line of a file without a header.
type textLine struct {
	number       int
	indent, text string
	id           string
}

// numbered matches a line that begins with an id, as in Google's taxonomy with ids: "4 - Tools > Drills".
var numbered = regexp.MustCompile(`^(\d+)\s+[-–]\s+(\S.*)$`)

// bullets begin the lines of lists.
var bullets = []string{"- ", "* ", "• "}

// readText reads one category per line: paths, or names whose indents show their levels. Both may begin with an id.
func (c *customReader) readText(text string) {
	list := c.cutIDs(cutBullets(textLines(text)))
	t := &table{header: []string{pathColumns[0], idColumns[0]}}
	outline := false
	for _, l := range list {
		t.add(l.number, l.text, l.id)
		outline = outline || l.indent != list[0].indent
	}
	if !outline {
		c.readTable(t, "")
		return
	}
	c.form = "an outline"
	c.readIndented(t, list)
}

// textLines returns the lines that are neither blank nor comments.
func textLines(text string) (list []textLine) {
	number := 0
	for line := range strings.Lines(text) {
		number++
		line = strings.TrimRightFunc(line, unicode.IsSpace)
		body := strings.TrimLeftFunc(line, unicode.IsSpace)
		if body != "" && body[0] != '#' {
			list = append(list, textLine{number: number, indent: line[:len(line)-len(body)], text: body})
		}
	}
	return list
}

// cutBullets removes a bullet if all lines begin with it.
func cutBullets(list []textLine) []textLine {
	for _, bullet := range bullets {
		if slices.ContainsFunc(list, func(l textLine) bool { return !strings.HasPrefix(l.text, bullet) }) {
			continue
		}
		for i := range list {
			list[i].text = strings.TrimSpace(list[i].text[len(bullet):])
		}
	}
	return list
}

// cutIDs moves the ids at the start of lines to their field. If fewer than half of the lines begin with a number, the numbers
// are parts of names, such as "0 - 12 months".
func (c *customReader) cutIDs(list []textLine) []textLine {
	found := make([][]string, len(list))
	n := 0
	for i, l := range list {
		if found[i] = numbered.FindStringSubmatch(l.text); found[i] != nil {
			n++
		}
	}
	if n == 0 || 2*n < len(list) {
		return list
	}
	lines := map[string]int{} // by id
	for i := range list {
		l := &list[i]
		if found[i] == nil {
			c.report(l.number, fmt.Sprintf("%.80q has no id, and %d other lines begin with one, such as 4 - Tools: give all an id, or none", l.text, n))
			continue
		}
		l.id, l.text = found[i][1], found[i][2]
		if first := lines[l.id]; first > 0 {
			c.report(l.number, idIsTaken(l.id, first))
			continue
		}
		lines[l.id] = l.number
	}
	return list
}

// readIndented reads indented names. The parent of a name is the nearest line above with a smaller indent.
func (c *customReader) readIndented(t *table, list []textLine) {
	var names, indents []string // from the top level to the line before
	for i, l := range list {
		level := len(indents)
		for level > 0 && !isDeeper(l.indent, indents[level-1]) {
			level--
		}
		problem := ""
		if level == 0 && i > 0 && l.indent != list[0].indent || level < len(indents) && l.indent != indents[level] {
			problem = fmt.Sprintf("%.80q is indented as no line above: indent the lines of a level by the same tabs or spaces", l.text)
		}
		indents, names = append(indents[:level:level], l.indent), append(names[:level:level], foldSpace(l.text))
		c.add(t.rows[i], names, problem)
	}
}

// isDeeper reports whether an indent begins with another indent, and is longer.
func isDeeper(indent, other string) bool {
	return len(indent) > len(other) && strings.HasPrefix(indent, other)
}
