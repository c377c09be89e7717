package reader

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
)

const catalog = "testdata/excel/catalog.xlsx" // see scripts/fixtures/excel.py

// Numbers keep their digits whatever their form in Excel is, and dates keep their form.
func TestExcel(t *testing.T) {
	r := openReader(t, Options{Paths: []string{catalog}, Candidates: []string{"product_name"}})
	want := []Record{
		{Number: 1, Line: 2, Input: "Dog Collar", Fields: []string{"Dog Collar", "1234567890123", "19.99", "2026-01-02", "2026-01-02 3:04:05", "TRUE", ""}},
		{Number: 2, Line: 4, Input: "Teapot", Fields: []string{"Teapot", "45292", "0.3", "31/12/1999", "2026-07-01 12:00:00", "FALSE", "née\nx"}},
		{Number: 3, Line: 5, Input: "0012", Fields: []string{"0012", "123456789012345", "0.5", "unknown", "", "", "0012"}},
	}
	records := readAll(t, r)
	if len(records) != len(want) {
		t.Fatalf("%d records, want %d", len(records), len(want))
	}
	for i, rec := range records {
		if rec.Number != want[i].Number || rec.Line != want[i].Line || rec.Input != want[i].Input || !slices.Equal(rec.Fields, want[i].Fields) {
			t.Errorf("got  %d %q %q\nwant %d %q %q", rec.Line, rec.Input, rec.Fields, want[i].Line, want[i].Input, want[i].Fields)
		}
	}
	content, err := os.ReadFile(catalog)
	if err != nil {
		t.Fatal(err)
	}
	info := FileInfo{Name: catalog, Format: "xlsx", Inputs: []string{"Product Name"}, Bytes: int64(len(content)), SHA256: digestOf(string(content)), Whole: true}
	if got := r.Files()[0]; !reflect.DeepEqual(got, info) {
		t.Errorf("got %+v, want %+v", got, info)
	}
}

func TestExcelSheets(t *testing.T) {
	r := openReader(t, Options{Paths: []string{catalog}, Sheet: "websites", Candidates: []string{"website_url"}})
	if got, want := summary(readAll(t, r)), "2 a.example\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for sheet, want := range map[string][]string{"": {"Catalog", "Websites"}, "Websites": nil} { // the first may be a cover
		_, err := Open(t.Context(), Options{Paths: []string{catalog}, Sheet: sheet, Candidates: []string{"none of them"}})
		if column, ok := errors.AsType[*ColumnError](err); !ok || !slices.Equal(column.Sheets, want) {
			t.Errorf("sheet %q: %v", sheet, err)
		}
	}
	_, err := Open(t.Context(), Options{Paths: []string{catalog}, Sheet: "Sites", Candidates: candidates})
	option, ok := errors.AsType[*OptionError](err)
	if !ok || option.Option != "Sheet" || !strings.Contains(err.Error(), `has no sheet "Sites"; its sheets: Catalog, Websites`) {
		t.Errorf("unknown sheet: %v", err)
	}
}

func TestDamagedExcel(t *testing.T) {
	content, err := os.ReadFile(catalog)
	if err != nil {
		t.Fatal(err)
	}
	bomb := written(t, func(w io.Writer) error {
		z := zip.NewWriter(w)
		for _, name := range []string{"[Content_Types].xml", "xl/workbook.xml", "xl/worksheets/sheet1.xml"} {
			if _, err := z.CreateRaw(&zip.FileHeader{Name: name, Method: zip.Deflate, UncompressedSize64: excelUnzipped}); err != nil {
				return err
			}
		}
		return z.Close()
	})
	empty := written(t, func(w io.Writer) error {
		z := zip.NewWriter(w)
		_, err := z.Create("[Content_Types].xml")
		return errors.Join(err, z.Close())
	})
	tests := []struct{ name, content, want string }{
		{"zip bomb", bomb, "is a damaged Excel file (it has more than 2 GiB unzipped)"},
		{"no parts", empty, "is an Office file that is no .xlsx workbook, not a list; save the list as CSV or .xlsx"},
		{"cut", cut(string(content), 100), "is a zip archive, not a list"},
		{"text", "domain\na.com\n", "is a damaged Excel file (it begins like another kind of file)"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			path := writeFile(t, "in.xlsx", test.content)
			wantRefused(t, Options{Paths: []string{path}, Candidates: candidates}, path, test.want)
		})
	}
	wantRefused(t, fromString(string(content), Options{Candidates: candidates}), "-", "an Excel file needs a name that ends in .xlsx")
}
