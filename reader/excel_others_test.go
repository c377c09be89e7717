package reader

import (
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// A warning names the visible sheets with rows that are not read, unless the user has chosen one.
func TestOtherSheets(t *testing.T) {
	const full, formatted = `<row r="1"><c r="A1" t="s"><v>0</v></c></row>`, `<row r="1"><c r="A1" s="1"/></row>`
	for _, test := range []struct{ name, state, rows, sheet, want string }{
		{"rows", "", full, "", "sheet=List others=More\n"},
		{"an inline text", "visible", `<row r="9"><c r="C9" t="inlineStr"><is><t>x</t></is></c></row>`, "", "sheet=List others=More\n"},
		{"empty", "", "", "", ""},
		{"only formats", "", formatted, "", ""},
		{"hidden", "hidden", full, "", ""},
		{"hidden by a program", "veryHidden", full, "", ""},
		{"damaged", "", `<row></c>`, "", ""},
		{"the user has chosen", "", full, "list", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			parts := listParts(sheetOf(inlineRows(2)...))
			parts["xl/workbook.xml"] = fmt.Sprintf(`<workbook%s><sheets><sheet name="List" sheetId="1" r:id="r0"/><sheet name="More" sheetId="2" r:id="r3" state="%s"/></sheets></workbook>`, mainSpace, test.state)
			parts["xl/_rels/workbook.xml.rels"] = relationships("worksheet", "worksheets/sheet1.xml", "sharedStrings", "sharedStrings.xml", "styles", "styles.xml", "worksheet", "worksheets/sheet2.xml")
			parts["xl/worksheets/sheet2.xml"] = `<worksheet` + mainSpace + `><sheetData>` + test.rows + `</sheetData><extLst><ext><v>1</v></ext></extLst></worksheet>`
			var log strings.Builder
			o := Options{Paths: []string{writeFile(t, "in.xlsx", archived(t, parts))}, Sheet: test.sheet, Candidates: candidates,
				Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn}))}
			if n := len(readAll(t, openReader(t, o))); n != 2 {
				t.Errorf("%d records, want 2", n)
			}
			if !strings.HasSuffix(log.String(), test.want) || (log.String() == "") != (test.want == "") || strings.Count(log.String(), "\n") > 1 {
				t.Errorf("the log is %q, want %q", log.String(), test.want)
			}
		})
	}
}
