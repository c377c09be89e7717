package report

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// Section is a part of a document that a command writes. It lies between markers.
type Section struct{ begin, end string }

// The sections of scripts/bench/RESULTS.md.
var (
	Performance = newSection("performance", "make bench")
	Growth      = newSection("growth", "make bench-growth")
)

func newSection(name, command string) Section {
	return Section{begin: "<!-- " + name + ": made by `" + command + "` -->\n", end: "<!-- /" + name + " -->\n"}
}

// Rewrite replaces the section of a file. A file without its markers, or with more than
// one pair, stays as it is.
func (s Section) Rewrite(path, section string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	replaced, err := s.replace(string(text), section)
	if err != nil {
		return fmt.Errorf("write the figures to %s: %w", path, err)
	}
	return os.WriteFile(path, []byte(replaced), 0o666)
}

func (s Section) replace(text, section string) (string, error) {
	if strings.Count(text, s.begin) != 1 || strings.Count(text, s.end) != 1 {
		return "", errors.New("there must be one pair of the lines " + strings.TrimSpace(s.begin) + " and " + strings.TrimSpace(s.end))
	}
	before, rest, _ := strings.Cut(text, s.begin)
	_, after, found := strings.Cut(rest, s.end)
	if !found {
		return "", errors.New("the line " + strings.TrimSpace(s.end) + " must come after the other")
	}
	return before + s.begin + "\n" + strings.TrimSpace(section) + "\n\n" + s.end + after, nil
}
