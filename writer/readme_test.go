package writer

import (
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"
)

// The table of columns in the guide equals the definitions.
func TestReadmeColumns(t *testing.T) {
	const page = "../cmd/bulkcat/guide/tables.md"
	read, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(string(read), "\r\n", "\n")
	table := regexp.MustCompile(`(?s)(\| column \| type \| content \|\n\|---\|---\|---\|\n).*?(\| columns of the input )`)
	if !table.MatchString(text) {
		t.Fatal("the page has no table of columns")
	}
	want := table.ReplaceAllString(text, "${1}"+strings.ReplaceAll(columnTable(), "$", "$$")+"${2}")
	if text == want {
		return
	}
	if !*update {
		t.Fatal(page + " differs from the code: run go test ./writer -run TestReadme -update")
	}
	if err := os.WriteFile(page, []byte(want), 0o666); err != nil {
		t.Fatal(err)
	}
}

func columnTable() string {
	var b strings.Builder
	for i := range definitions {
		d := &definitions[i]
		typ, ok := map[Type]string{TypeInt64: "int64", TypeDouble: "double", TypeTimestamp: "timestamp"}[d.column(0).Type]
		if !ok {
			typ = "string"
		}
		name := "`" + d.name + "`"
		if d.texts != nil {
			name = fmt.Sprintf("`%s`, `%s`, ...", d.column(0).Name, d.column(1).Name)
		}
		fmt.Fprintf(&b, "| %s | %s | %s |\n", name, typ, d.about)
	}
	return b.String()
}
