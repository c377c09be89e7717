package main

import (
	_ "embed"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// released is the section of the README that tells how a release is installed. No command in it works before there is one, so
// it is in the README of a release alone.
//
//go:embed released.md
var released string

// mark is the place of the section in the README.
const mark = "<!-- released -->\n"

// readme writes the README of the release: with the section, and with links to the repository, since the archive does not have
// the pages that they lead to.
func (r *release) readme() error {
	text, err := os.ReadFile(filepath.Join(r.root, "README.md"))
	if err != nil {
		return err
	}
	section, err := r.releasedReadme(string(text))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(r.work, "README.md"), []byte(section), 0o666)
}

func (r *release) releasedReadme(text string) (string, error) {
	if strings.Count(text, mark) != 1 {
		return "", fmt.Errorf("README.md needs one line %q", strings.TrimSpace(mark))
	}
	section := strings.NewReplacer("VERSION", r.version, "HOMEPAGE", homepage, "TAG", r.tag).Replace(released)
	text = strings.Replace(text, mark, mark+section+"<!-- /released -->\n", 1)
	link := regexp.MustCompile(`\]\(([^):#]+)((?:#[^)]*)?\))`)
	return link.ReplaceAllStringFunc(text, func(found string) string {
		m := link.FindStringSubmatch(found)
		return "](" + homepage + "/blob/" + r.tag + "/" + m[1] + m[2]
	}), nil
}
