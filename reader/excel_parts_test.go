package reader

import (
	"archive/zip"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
)

const (
	relationTypes = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/"
	mainSpace     = ` xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"`
)

// relationships returns a part with one relationship for each pair of a kind and a target; their ids are r0, r1 and so on.
func relationships(pairs ...string) string {
	var b strings.Builder
	for i := 0; i < len(pairs); i += 2 {
		fmt.Fprintf(&b, `<Relationship Id="r%d" Type="%s%s" Target="%s"/>`, i/2, relationTypes, pairs[i], pairs[i+1])
	}
	return `<?xml version="1.0" encoding="UTF-8"?><Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">` + b.String() + `</Relationships>`
}

const oneSheet = `<workbook` + mainSpace + `><sheets><sheet name="List" sheetId="1" r:id="r0"/></sheets></workbook>`

// listParts are the parts of a workbook with the names that Excel gives them. Its shared strings are url, a.example and
// b.example, and its style 1 is that of dates.
func listParts(sheet string) map[string]string {
	return map[string]string{
		"[Content_Types].xml":        `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"/>`,
		"_rels/.rels":                relationships("officeDocument", "xl/workbook.xml"),
		"xl/workbook.xml":            oneSheet,
		"xl/_rels/workbook.xml.rels": relationships("worksheet", "worksheets/sheet1.xml", "sharedStrings", "sharedStrings.xml", "styles", "styles.xml"),
		"xl/worksheets/sheet1.xml":   sheet,
		"xl/sharedStrings.xml":       `<sst` + mainSpace + `><si><t>url</t></si><si><t>a.example</t></si><si><t>b.example</t></si></sst>`,
		"xl/styles.xml":              `<styleSheet` + mainSpace + `><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/></cellXfs></styleSheet>`,
	}
}

// sheetOf returns a sheet with the header url, which is row 1, and rows.
func sheetOf(rows ...string) string {
	return `<worksheet` + mainSpace + `><sheetData><row r="1"><c r="A1" t="s"><v>0</v></c></row>` + strings.Join(rows, "") + `</sheetData></worksheet>`
}

// inlineRows returns n rows with the numbers from 2 on.
func inlineRows(n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`<row r="%d"><c r="A%[1]d" t="inlineStr"><is><t>site%[1]d.example</t></is></c></row>`, i+2)
	}
	return rows
}

// archived returns a zip archive of parts.
func archived(t testing.TB, parts map[string]string) string {
	t.Helper()
	return written(t, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, name := range slices.Sorted(maps.Keys(parts)) {
			part, err := z.Create(name)
			if err != nil {
				return err
			}
			if _, err := io.WriteString(part, parts[name]); err != nil {
				return err
			}
		}
		return z.Close()
	})
}

// readExcel returns the records of a workbook up to its end or an error, which may be that of Open.
func readExcel(t testing.TB, parts map[string]string) ([]Record, error) {
	t.Helper()
	r, err := Open(t.Context(), Options{Paths: []string{writeFile(t, "in.xlsx", archived(t, parts))}, Candidates: candidates})
	if err != nil {
		return nil, err
	}
	defer r.Close()
	var records []Record
	for {
		rec, err := r.Read()
		if err == io.EOF {
			return records, nil
		}
		if err != nil {
			return records, err
		}
		records = append(records, rec)
	}
}

// Cells have their values whatever attributes they lack, and wherever the row or the cell is.
func TestExcelCells(t *testing.T) {
	tests := []struct{ name, row, want string }{
		{"empty style", `<row r="2"><c r="A2" s="" t="s"><v>1</v></c></row>`, "2 a.example\n"},
		{"empty references", `<row r=""><c r="" s="" t=""><v>12</v></c></row>`, "2 12\n"},
		{"no references", `<row><c t="s"><v>1</v></c></row><row><c t="s"><v>2</v></c></row>`, "2 a.example\n3 b.example\n"},
		{"rows left out", `<row r="7"><c r="A7" t="s"><v>1</v></c></row><row><c t="s"><v>2</v></c></row>`, "7 a.example\n8 b.example\n"},
		{"any order of cells", `<row r="2"><c r="B2"/><c r="a2" t="s"><v>1</v></c></row>`, "2 a.example\n"},
		{"empty cells beyond the header", `<row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2" t="str"><f>A1</f><v></v></c></row>`, "2 a.example\n"},
		{"cells beyond the header", `<row r="2"><c r="A2" t="s"><v>1</v></c><c r="C2"><v>1</v></c></row>`, "2! wrong number of fields: 3, want 1\n"},
		{"style that is missing", `<row r="2"><c r="A2" s="9"><v>45292</v></c></row>`, "2 45292\n"},
		{"date", `<row r="2"><c r="A2" s="1"><v>45292</v></c></row>`, "2 2024-01-01\n"},
		{"ISO date", `<row r="2"><c r="A2" s="1" t="d"><v>2024-01-01T12:00:00</v></c></row>`, "2 2024-01-01T12:00:00\n"},
		{"truth", `<row r="2"><c r="A2" t="b"><v>1</v></c></row><row><c t="b"><v>0</v></c></row>`, "2 TRUE\n3 FALSE\n"},
		{"error", `<row r="2"><c r="A2" t="e"><v>#N/A</v></c></row>`, "2 #N/A\n"},
		{"formula", `<row r="2"><c r="A2" t="str"><f>A1</f><v>a_x000D_b</v></c></row>`, "2 a\rb\n"},
		{"formulas that were never calculated", `<row r="2"><c r="A2"><f>B1</f></c></row><row r="3"><c r="A3"><f>B1</f><v></v></c></row><row/><row r="5"><c r="A5" t="str"><f>B1</f><v></v></c></row>`, "2 \n3 \n"},
		{"runs and phonetic text", `<row r="2"><c t="inlineStr"><is><r><rPr/><t>a.</t></r><r><t xml:space="preserve">b </t></r><rPh><t>x</t></rPh></is></c></row>`, "2 a.b \n"},
		{"escapes", `<row r="2"><c t="inlineStr"><is><t>_x005F_x0041_ _x0041_ _xD800_ _x41_ &lt;</t></is></c></row>`, "2 _x0041_ A \ufffd _x41_ <\n"},
		{"CDATA and comments", `<row r="2"><c t="inlineStr"><is><t><![CDATA[a<]]><!-- x -->b</t></is></c></row>`, "2 a<b\n"},
		{"prefix", `<x:row xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main" r="2"><x:c r="A2" t="s"><x:v>1</x:v></x:c></x:row>`, "2 a.example\n"},
		{"extension", `<row r="2"><c r="A2" t="s"><v>1</v><extLst><ext><v>2</v><is><t>x</t></is></ext></extLst></c></row>`, "2 a.example\n"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			records, err := readExcel(t, listParts(sheetOf(test.row)))
			if got := summary(records); err != nil || got != test.want {
				t.Errorf("got %q, %v, want %q", got, err, test.want)
			}
		})
	}
}

// Parts are found by their relationships, whatever their names are.
func TestExcelPartNames(t *testing.T) {
	list := listParts(sheetOf(`<row><c t="s"><v>1</v></c><c/></row>`))
	rename := func(pairs ...string) map[string]string {
		parts := maps.Clone(list)
		for i := 0; i < len(pairs); i += 2 {
			parts[pairs[i+1]] = parts[pairs[i]]
			delete(parts, pairs[i])
		}
		return parts
	}
	with := func(parts map[string]string, pairs ...string) map[string]string {
		for i := 0; i < len(pairs); i += 2 {
			parts[pairs[i]] = pairs[i+1]
		}
		return parts
	}
	backslashes := map[string]string{}
	for name, content := range list {
		backslashes[strings.ReplaceAll(name, "/", `\`)] = content
	}
	tests := []struct {
		name  string
		parts map[string]string
	}{
		{"usual", list},
		{"backslashes", backslashes},
		{"backslash in a target", with(rename(), "_rels/.rels", relationships("officeDocument", `xl\workbook.xml`))},
		{"absolute targets", with(rename(), "_rels/.rels", relationships("officeDocument", "/xl/workbook.xml"))},
		{"upper case", rename("xl/sharedStrings.xml", "xl/SharedStrings.xml", "xl/workbook.xml", "XL/Workbook.xml")},
		{"other folders", with(rename("xl/workbook.xml", "book/main.xml", "xl/worksheets/sheet1.xml", "sheets/first one.xml", "xl/sharedStrings.xml", "book/texts"),
			"_rels/.rels", relationships("officeDocument", "./book/main.xml"),
			"book/_rels/main.xml.rels", relationships("worksheet", "../sheets/first%20one.xml", "sharedStrings", "texts"))},
		{"no folder", with(rename("xl/workbook.xml", "workbook.xml"),
			"_rels/.rels", relationships("officeDocument", "workbook.xml"),
			"_rels/workbook.xml.rels", relationships("worksheet", "xl/worksheets/sheet1.xml", "sharedStrings", "xl/sharedStrings.xml"))},
		{"strict", with(rename(), "_rels/.rels", strings.ReplaceAll(list["_rels/.rels"], relationTypes, "http://purl.oclc.org/ooxml/officeDocument/relationships/"))},
		{"chart before the sheet", with(rename(),
			"xl/workbook.xml", `<workbook`+mainSpace+`><sheets><sheet name="Chart" r:id="r1"/><sheet name="List" r:id="r0"/></sheets></workbook>`,
			"xl/_rels/workbook.xml.rels", relationships("worksheet", "worksheets/sheet1.xml", "chartsheet", "chart.xml", "sharedStrings", "sharedStrings.xml"))},
		{"UTF-16", with(rename(), "xl/sharedStrings.xml", encoded(t, unicode.UTF16(unicode.LittleEndian, unicode.UseBOM), `<?xml version="1.0" encoding="UTF-16"?>`+list["xl/sharedStrings.xml"]))},
		{"UTF-8 with a byte order mark", with(rename(), "xl/worksheets/sheet1.xml", "\ufeff"+list["xl/worksheets/sheet1.xml"])},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			records, err := readExcel(t, test.parts)
			if got, want := summary(records), "2 a.example\n"; err != nil || got != want {
				t.Errorf("got %q, %v, want %q", got, err, want)
			}
		})
	}
	const sheet = "xl/worksheets/sheet1.xml"
	refused := []struct {
		name  string
		parts map[string]string
		want  string
	}{
		{"a document of Word", with(rename(), "xl/workbook.xml", "<document/>"), "is an Office file that is no .xlsx workbook"},
		{"a binary workbook", with(rename(), "_rels/.rels", relationships("officeDocument", "xl/workbook.bin")), "is an Office file that is no .xlsx workbook"},
		{"no workbook", rename("xl/workbook.xml", "xl/other.xml"), "its part /xl/workbook.xml is missing"},
		{"no sheets", with(rename(), "xl/workbook.xml", "<workbook/>"), "it has no sheet"},
		{"no sheet", rename(sheet, "xl/other.xml"), "its part /xl/worksheets/sheet1.xml is missing"},
		{"no shared strings", rename("xl/sharedStrings.xml", "xl/other.xml"), "its part /xl/sharedstrings.xml is missing"},
		{"two sheets in one place", with(rename(), "xl/worksheets/SHEET1.xml", list[sheet]), "it has 2 parts /xl/worksheets/sheet1.xml"},
		{"a sheet that is a chart", with(rename(), sheet, "<chartsheet/>"), "its root is chartsheet, want worksheet"},
		{"no rows", with(rename(), sheet, "<worksheet"+mainSpace+"><dimension/></worksheet>"), "it has no sheetData"},
		{"an empty part", with(rename(), sheet, ""), "it has no content"},
		{"another encoding", with(rename(), sheet, `<?xml version="1.0" encoding="windows-1252"?>`+list[sheet]), `the encoding "windows-1252" is neither UTF-8 nor UTF-16`},
		{"half of the styles", with(rename(), "xl/styles.xml", "<styleSheet><cellXfs><xf/>"), "unexpected EOF"},
	}
	for _, test := range refused {
		t.Run(test.name, func(t *testing.T) {
			if records, err := readExcel(t, test.parts); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %d records and %v, want an error with %q", len(records), err, test.want)
			}
		})
	}
}

// Shared strings beyond those in memory are kept in a temporary file.
func TestExcelManySharedStrings(t *testing.T) {
	const count, padding = 20_000, 1_500
	texts := sharedStrings{ended: true, loaded: -1}
	defer func() {
		if err := texts.Close(); err != nil {
			t.Error(err)
		}
	}()
	text := func(i int) string { return fmt.Sprint(i) + strings.Repeat("x", padding*(i%2)) }
	for i := range count {
		if err := texts.add(text(i)); err != nil {
			t.Fatal(err)
		}
	}
	if texts.file != nil {
		t.Fatalf("%d MiB are in the file already", len(texts.memory)>>20)
	}
	for i := range count {
		if err := texts.add(text(i)); err != nil {
			t.Fatal(err)
		}
	}
	if texts.file == nil || len(texts.memory) > stringsInMemory {
		t.Fatalf("%d bytes are in memory", len(texts.memory))
	}
	for i := range count / 4 {
		n := (i * 7919) % (2 * count)
		got, err := texts.get(fmt.Sprint(n))
		if err != nil || got != text(n%count) {
			t.Fatalf("string %d is %.20q, %v", n, got, err)
		}
	}
}
