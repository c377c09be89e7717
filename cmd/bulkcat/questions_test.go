//go:build unix

package main

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const (
	guide     = "cmd/bulkcat/guide/"
	firstPage = "README.md"
)

// TestQuestionsOfANewcomer wants an answer to each question: the text is in the page, and the README links to the page, or to
// one that links to it.
func TestQuestionsOfANewcomer(t *testing.T) {
	first := linked(t, firstPage)
	var second []string
	for _, page := range first {
		if strings.HasSuffix(page, ".md") {
			second = append(second, linked(t, page)...)
		}
	}
	for _, test := range []struct{ question, page, answer string }{
		{"What is it?", firstPage, "turns a list of millions of websites or products into a table"},
		{"How do I try it?", firstPage, "make demo "},
		{"How do I install it without root?", firstPage, "make install "},
		{"What does it promise?", firstPage, "## The four promises"},
		{"Does it visit the sites in my list, and how do I forbid that?", firstPage, "as far as their robots.txt allows; `--fetch never`\n"},
		{"Which files can it read?", guide + "lists.md", "| `--input-format` | extensions | content |"},
		{"Which column does it take?", guide + "lists.md", "## The input column"},
		{"Why are the letters of my list wrong?", guide + "lists.md", "## Encoding"},
		{"Are www.example.com and example.com asked twice?", guide + "lists.md", "## Spellings of a website"},
		{"Who answers if I have no vendor?", guide + "answers.md", "## The embedded service"},
		{"Where do the taxonomies come from, and under which licence?", guide + "answers.md", "## Sources of the taxonomies"},
		{"How sure is an answer?", guide + "answers.md", "### Confidence"},
		{"Can I have categories of my own?", guide + "answers.md", "## Your own taxonomies"},
		{"Which vendor can I use?", guide + "answers.md", "### Which vendor?"},
		{"My service has other names. What do I do?", guide + "answers.md", "### A profile for another interface"},
		{"Where are the answers kept?", guide + "answers.md", "## The store"},
		{"What do the columns mean?", guide + "tables.md", "| column | type | content |"},
		{"How do I get one row per input?", howtoPage, "## one-row: "},
		{"How do I know that nothing is missing?", guide + "tables.md", "`bulkcat verify OUTPUT [INPUT]` proves an output"},
		{"What does the exit status 75 mean?", guide + "nights.md", "| 75 | stopped early and resumable"},
		{"What happens if the machine dies in the night?", guide + "nights.md", "**Kill, crash, loss of power.** The same command continues."},
		{"What will it cost, and how do I limit that?", howtoPage, "## money: "},
		{"How do I run it each night?", guide + "nights.md", "## Start a run each night"},
		{"How do colleagues share one key?", guide + "teams.md", "## A gateway"},
		{"How do I categorize the products of my shop, and join them back?", howtoPage, "## catalogue: "},
		{"How do I use it from Python?", "scripts/python/README.md", "bulkcat.products(df"},
		{"How do I get the table into Postgres?", howtoPage, "## postgres: "},
		{"Does it run on Windows?", howtoPage, "## windows: "},
		{"How do I install a newer version?", howtoPage, "## upgrade: "},
		{"How do I report a vulnerability?", ".github/SECURITY.md", "vulnerab"},
	} {
		t.Run(test.question, func(t *testing.T) {
			if test.page != firstPage && !slices.Contains(first, test.page) && !slices.Contains(second, test.page) {
				t.Errorf("%s is more than two steps from the README", test.page)
			}
			before, _, found := strings.Cut(read(t, filepath.Join(repository, test.page)), test.answer)
			if !found {
				t.Fatalf("%s does not have %q", test.page, test.answer)
			}
			t.Logf("%s:%d", test.page, strings.Count(before, "\n")+1)
		})
	}
}

// linked are the files that a page links to, from the folder of the repository.
func linked(t *testing.T, page string) (list []string) {
	for _, m := range regexp.MustCompile(`\]\(([^):#]+)(?:#[^)]*)?\)`).FindAllStringSubmatch(read(t, filepath.Join(repository, page)), -1) {
		list = append(list, filepath.ToSlash(filepath.Join(filepath.Dir(page), m[1])))
	}
	return list
}
