package report

import (
	"errors"
	"fmt"
	"os"
	"strings"
)

// The markers that the README has around what Rewrite replaces.
const (
	begin = "<!-- performance: made by `make bench README=README.md` -->\n"
	end   = "<!-- /performance -->\n"
)

// Rewrite replaces the section of a file that lies between the markers. A file without
// them, or with more than one pair, stays as it is.
func Rewrite(path, section string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("write the figures: %w", err)
	}
	replaced, err := replace(string(text), section)
	if err != nil {
		return fmt.Errorf("write the figures to %s: %w", path, err)
	}
	return os.WriteFile(path, []byte(replaced), 0o666)
}

func replace(text, section string) (string, error) {
	if strings.Count(text, begin) != 1 || strings.Count(text, end) != 1 {
		return "", errors.New("there must be one pair of the lines " + strings.TrimSpace(begin) + " and " + strings.TrimSpace(end))
	}
	before, rest, _ := strings.Cut(text, begin)
	_, after, found := strings.Cut(rest, end)
	if !found {
		return "", errors.New("the line " + strings.TrimSpace(end) + " must come after the other")
	}
	return before + begin + "\n" + strings.TrimSpace(section) + "\n\n" + end + after, nil
}
