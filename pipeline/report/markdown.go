package report

import (
	_ "embed" // the template
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/bulkcat/bulkcat/pipeline/figures"
)

//go:embed report.md
var markdownText string

var markdown = template.Must(template.New("markdown").Funcs(figures.Words).Funcs(words).Parse(markdownText))

// special escapes the markup in text.
var special = strings.NewReplacer(
	`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`, "|", `\|`, "#", `\#`, "~", `\~`, "@", "@\u200b",
	"<", "&lt;", ">", "&gt;", "&", "&amp;", "://", ":\u200b//", // no mention and no link
)

func escape(text any) string { return special.Replace(figures.Short(fmt.Sprint(text))) }

// WriteMarkdown writes the main figures of the report, for a chat: tables have at most ten lines.
func (r Report) WriteMarkdown(out io.Writer) error { return markdown.Execute(out, r) }
