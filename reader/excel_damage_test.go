package reader

import (
	"errors"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
)

// bombText is a length beyond the bound of a text.
const bombText = 3 << 20

// A damaged sheet is an error that names the row. None of its damage is the end of the rows.
func TestExcelDamagedRow(t *testing.T) {
	const at = 500
	damaged := func(row string) string {
		rows := inlineRows(1000)
		rows[at-2] = row
		return sheetOf(rows...)
	}
	whole := damaged(inlineRows(1000)[at-2])
	cutAt := strings.Index(whole, "site500.")
	tests := []struct {
		name, sheet, want string
		row               int64
	}{
		{"cut", whole[:cutAt], "unexpected EOF", at},
		{"cut between rows", whole[:strings.Index(whole, `<row r="500">`)], "unexpected EOF", at},
		{"cut before its end", strings.TrimSuffix(whole, "</sheetData></worksheet>"), "unexpected EOF", 1002},
		{"cut after the rows", strings.TrimSuffix(whole, "</worksheet>"), "unexpected EOF", 1002},
		{"control character", damaged("<row r=\"500\"><c t=\"inlineStr\"><is><t>a\vb</t></is></c></row>"), "illegal character code U+000B", at},
		{"invalid UTF-8", damaged("<row r=\"500\"><c t=\"inlineStr\"><is><t>a\xffb</t></is></c></row>"), "invalid UTF-8", at},
		{"stray <", damaged(`<row r="500"><c t="inlineStr"><is><t>a<b</t></is></c></row>`), "XML syntax error", at},
		{"stray < between rows", damaged(`<`), "XML syntax error", at},
		{"stray &", damaged(`<row r="500"><c t="inlineStr"><is><t>a&b</t></is></c></row>`), "invalid character entity &b", at},
		{"early end", damaged(`</sheetData>`), "XML syntax error", at},
		{"second rows", strings.Replace(whole, `<row r="500">`, `</sheetData><sheetData><row r="500">`, 1), "more than one sheetData", at},
		{"after the end", whole + "<row/>", "the element row follows the end", 1002},
		{"row twice", damaged(`<row r="499"/>`), "row 499 follows row 499", at},
		{"row number", damaged(`<row r="x"/>`), `a row has the number "x"`, at},
		{"row limit", damaged(`<row r="1048577"/>`), "row 1048577 follows row 499; a sheet has at most 1048576 rows", at},
		{"cell twice", damaged(`<row r="500"><c r="A500"><v>1</v></c><c r="A500"><v>2</v></c></row>`), "two cells are in column 1", at},
		{"cell reference", damaged(`<row r="500"><c r="500"><v>1</v></c></row>`), `a cell has the reference "500"`, at},
		{"cell limit", damaged(`<row r="500"><c r="XFE500"><v>1</v></c></row>`), "more than 16384 cells", at},
		{"style", damaged(`<row r="500"><c s="x"><v>1</v></c></row>`), `a cell has the style "x"`, at},
		{"string out of range", damaged(`<row r="500"><c t="s"><v>3</v></c></row>`), "a cell has the shared string 3 of 3", at},
		{"string below range", damaged(`<row r="500"><c t="s"><v>-1</v></c></row>`), `a cell has the shared string "-1"`, at},
		{"no string", damaged(`<row r="500"><c t="s"><v>x</v></c></row>`), `a cell has the shared string "x"`, at},
		{"depth", damaged(`<row r="500"><c>` + strings.Repeat("<a>", maxDepth) + strings.Repeat("</a>", maxDepth) + `</c></row>`), "more than 64 elements inside each other", at},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			records, err := readExcel(t, listParts(test.sheet))
			read, ok := errors.AsType[*ReadError](err)
			if !ok || read.Line != test.row || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v after %d records, want an error in row %d with %q", err, len(records), test.row, test.want)
			}
		})
	}
	if records, err := readExcel(t, listParts(whole)); err != nil || len(records) != 1000 {
		t.Errorf("undamaged: %d records, %v", len(records), err)
	}
}

// A zip bomb is refused with little memory.
func TestExcelBombs(t *testing.T) {
	text := strings.Repeat("x", bombText)
	item := "<si><t>" + text[:1000] + "</t></si>"
	of := func(part, content string) map[string]string {
		parts := listParts(sheetOf(`<row r="2"><c t="s"><v>1</v></c></row>`))
		parts[part] = content
		return parts
	}
	const sheet, stringsPart, styles = "xl/worksheets/sheet1.xml", "xl/sharedStrings.xml", "xl/styles.xml"
	tests := []struct {
		name  string
		parts map[string]string
		want  string
	}{
		{"text of a cell", of(sheet, sheetOf(`<row><c t="inlineStr"><is><t>`+text+`</t></is></c></row>`)), "longer than 1 MiB"},
		{"number of a cell", of(sheet, sheetOf(`<row><c><v>`+strings.Repeat("1", bombText)+`</v></c></row>`)), "longer than 1 MiB"},
		{"text in pieces", of(sheet, sheetOf(`<row><c t="inlineStr"><is><t>`+strings.Repeat(text[:1000]+"<!---->", bombText/1000)+`</t></is></c></row>`)), "longer than 1 MiB"},
		{"text in runs", of(sheet, sheetOf(`<row><c t="inlineStr"><is>`+strings.Repeat("<r><t>"+text[:1000]+"</t></r>", bombText/1000)+`</is></c></row>`)), "longer than 1 MiB"},
		{"attribute", of(sheet, sheetOf(`<row a="`+text+`"/>`)), "longer than 1 MiB"},
		{"attributes", of(sheet, sheetOf(`<row `+strings.Repeat(`a="" `, bombText/4)+`/>`)), "longer than 1 MiB"},
		{"name", of(sheet, sheetOf(`<`+text+`/>`)), "longer than 1 MiB"},
		{"comment", of(sheet, sheetOf(`<!--`+text+`-->`)), "longer than 1 MiB"},
		{"depth", of(sheet, sheetOf(strings.Repeat("<row>", 1000))), "more than 64 elements"},
		{"cells", of(sheet, sheetOf(`<row>`+strings.Repeat("<c/>", excelColumnLimit+1)+`</row>`)), "more than 16384 cells"},
		{"shared string", of(stringsPart, "<sst"+mainSpace+"><si><t>"+text), "longer than 1 MiB"},
		{"depth of shared strings", of(stringsPart, "<sst"+mainSpace+">"+strings.Repeat("<si>", 1000)), "more than 64 elements"},
		{"shared strings", of(stringsPart, "<sst"+mainSpace+">"+strings.Repeat(item, bombSize/len(item)+1)+"</sst>"), "it is a zip bomb"},
		{"empty shared strings", of(stringsPart, "<sst"+mainSpace+">"+strings.Repeat("<si/>", bombSize/5)+"</sst>"), "it is a zip bomb"},
		{"styles", of(styles, "<styleSheet"+mainSpace+"><cellXfs>"+strings.Repeat("<xf/>", maxEntries+1)+"</cellXfs></styleSheet>"), "more than 65536 styles"},
		{"number format", of(styles, `<styleSheet`+mainSpace+`><numFmts><numFmt numFmtId="164" formatCode="`+strings.Repeat("d", maxFormCode+1)+`"/></numFmts></styleSheet>`), "is damaged"},
		{"sheets", of("xl/workbook.xml", "<workbook"+mainSpace+"><sheets>"+strings.Repeat("<sheet/>", maxEntries+1)+"</sheets></workbook>"), "more than 65536 sheets"},
		{"entities", of(sheet, `<!DOCTYPE x [<!ENTITY a "aa">]>`+sheetOf(`<row><c t="inlineStr"><is><t>&a;</t></is></c></row>`)), "invalid character entity &a;"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, "in.xlsx", archived(t, test.parts))
			test.parts = nil
			before := allocated()
			r, err := Open(t.Context(), Options{Paths: []string{path}, Candidates: candidates})
			if err == nil {
				defer r.Close()
				_, err = drain(r)
			}
			if err == io.EOF || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want an error with %q", err, test.want)
			}
			if grown := (allocated() - before) >> 20; grown > 64 {
				t.Errorf("%d MiB were allocated", grown)
			}
		})
	}
}

// allocated returns the number of bytes that were allocated so far.
func allocated() uint64 {
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return stats.TotalAlloc
}

// A row is as long as a CSV record may be. A longer one is malformed, and the next one is read.
func TestExcelLongRow(t *testing.T) {
	cell := `<c t="inlineStr"><is><t>` + strings.Repeat("x", 600<<10) + `</t></is></c>`
	records, err := readExcel(t, listParts(sheetOf("<row>"+cell+cell+"</row>", `<row><c t="s"><v>1</v></c></row>`)))
	if got, want := summary(records), "2! the cells of the row are longer than 1 MiB together\n3 a.example\n"; err != nil || got != want {
		t.Errorf("got %.200q, %v, want %q", got, err, want)
	}
}

// Every truncation and flipped bit of a workbook is an error, or leaves the right rows.
func TestExcelDamagedFile(t *testing.T) {
	whole := archived(t, listParts(sheetOf(inlineRows(40)...)))
	path := writeFile(t, "in.xlsx", whole)
	read := func(content string) (string, error) {
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		r, err := Open(t.Context(), Options{Paths: []string{path}, Candidates: candidates})
		if err != nil {
			return "", err
		}
		defer r.Close()
		var b strings.Builder
		for {
			rec, err := r.Read()
			if err == io.EOF {
				return b.String(), nil
			}
			if err != nil {
				return "", err
			}
			b.WriteString(summary([]Record{rec}))
		}
	}
	want, err := read(whole)
	if err != nil || strings.Count(want, "\n") != 40 {
		t.Fatalf("undamaged: %q, %v", want, err)
	}
	check := func(what string, at int, content string) {
		if got, err := read(content); err == nil && got != want {
			t.Errorf("%s at %d: got %q", what, at, got)
		}
	}
	for at := 0; at < len(whole); at += 17 {
		check("cut", at, whole[:at])
		flipped := []byte(whole)
		flipped[at] ^= 1 << (at % 8)
		check("flipped bit", at, string(flipped))
	}
}
