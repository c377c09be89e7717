package reader

import (
	"bytes"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// The input of several columns is their values in the order of the options, in every format.
func TestSeveralColumns(t *testing.T) {
	type row struct {
		Model *string `parquet:"model,optional"`
		Brand *string `parquet:"brand,optional"`
		N     string  `parquet:"size"`
	}
	text := func(s string) *string { return &s }
	var table bytes.Buffer
	w := parquet.NewGenericWriter[row](&table)
	w.Write([]row{{text("Tea Set"), text("Acme"), "30"}, {text("Lamp"), nil, "40"}, {nil, text("Bolt"), ""}, {text(""), text(" "), ""}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	var cells strings.Builder
	for _, row := range [][]string{{"Model", "size, cm", "Brand"}, {"Tea Set", "30", "Acme"}, {"Lamp", "40"}, {"", "", "Bolt"}, {"", "", " "}} {
		cells.WriteString("<row>")
		for _, cell := range row {
			cells.WriteString(`<c t="inlineStr"><is><t xml:space="preserve">` + cell + `</t></is></c>`)
		}
		cells.WriteString("</row>")
	}
	sheet := `<worksheet` + mainSpace + `><sheetData>` + cells.String() + `</sheetData></worksheet>`
	for file, content := range map[string]string{
		"list.csv":       "Model,\"size, cm\",Brand\nTea Set,30,Acme\nLamp,40,\n,,Bolt\n,, \n",
		"list.jsonl":     `{"model":"Tea Set","size, cm":30,"brand":"Acme"}` + "\n" + `{"model":"Lamp","size, cm":"40","brand":null}` + "\n" + `{"brand":"Bolt"}` + "\n" + `{"model":"","brand":" "}`,
		"list.json":      "[{\"model\":\"Tea Set\",\"size, cm\":30,\"brand\":\"Acme\"},\n{\"model\":\"Lamp\",\"size, cm\":\"40\"},{\"brand\":\"Bolt\"},{\"model\":\" \"}]",
		"list.parquet":   table.String(),
		"list.xlsx":      archived(t, listParts(sheet)),
		"list.tsv.gz":    gzipped(t, "size, cm\tbrand\tmodel\n30\tAcme\tTea Set\n40\t\tLamp\n\tBolt\n"),
		"no-header.csv":  "Acme,Tea Set,30\n,Lamp,40\nBolt\n",
		"reordered.json": "{\n\"size, cm\":30,\"brand\":\"Acme\",\"model\":\"Tea Set\"}\n{\"size, cm\":40,\"model\":\"Lamp\"}{\"brand\":\"Bolt\"}",
	} {
		o := Options{Paths: []string{writeFile(t, file, content)}, Columns: []string{"brand", "model", "size, cm"}}
		if strings.HasPrefix(file, "no-header") {
			o.Dialect.Header, o.Columns = NoHeader, []string{"1", "2", "3"}
		}
		if file == "list.parquet" {
			o.Columns[2] = "size"
		}
		for join, want := range map[string]string{
			"":   "Acme Tea Set 30|Lamp 40|Bolt|",
			", ": "Acme, Tea Set, 30|Lamp, 40|Bolt|",
		} {
			o.Join = join
			var got []string
			for _, rec := range readAll(t, openReader(t, o)) {
				got = append(got, rec.Input)
				if rec.Err != nil {
					t.Errorf("%s: %v", file, rec.Err)
				}
			}
			if got := strings.Join(got, "|"); got != want && got+"|" != want {
				t.Errorf("%s: got %s, want %s", file, got, want)
			}
		}
	}
}

func TestSeveralColumnsOfJSON(t *testing.T) {
	o := Options{Format: "jsonl", Columns: []string{"a.brand", "model"}}
	content := `{"a":{"brand":"Acme"},"model":"Lamp"}` + "\n" + `{"a.brand":"Bolt"}` + "\n\"Chair\"\n" + `{"model":["x"],"a":{"brand":"Acme"}}`
	want := "1 Acme Lamp\n2 Bolt\n3 Chair\n4! column \"model\" is an array, want a string\n"
	if got := summary(readAll(t, openReader(t, fromString(content, o)))); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
	r := openReader(t, Options{Paths: []string{"testdata/parquet/pyarrow-snappy.parquet"}, Columns: []string{"shop.url", "id"}, NamedOnly: true})
	if rec := readAll(t, r)[2]; rec.Input != "https://site2.example/ 9007199254740995" || strings.Join(r.Files()[0].Inputs, " ") != "shop.url id" {
		t.Errorf("Parquet: %+v of %q", rec, r.Files()[0].Inputs)
	}
}

// Every named column must be there, and once. A single column is read as it is.
func TestSeveralColumnsAreChecked(t *testing.T) {
	const content = "Brand,model\n Acme , Lamp \n"
	path := writeFile(t, "list.csv", content)
	jsonl := writeFile(t, "list.jsonl", `{"Brand":"Acme","model":"Lamp"}`)
	for _, test := range []struct {
		path    string
		columns []string
		want    string
	}{
		{path, []string{"brand", "colour"}, `no column "colour"`},
		{path, []string{"brand", "brand"}, `option Columns: the column "brand" is named twice`},
		{path, []string{"brand", "Brand"}, `option Columns: "brand" and "Brand" are the same column of`},
		{jsonl, []string{"brand", "colour"}, `no column "colour"`},
		{jsonl, []string{"brand", "Brand"}, `option Columns: "brand" and "Brand" are the same column of`},
		{"testdata/parquet/pyarrow-snappy.parquet", []string{"id", "ID"}, `option Columns: "id" and "ID" are the same column of`},
	} {
		if _, err := Open(t.Context(), Options{Paths: []string{test.path}, Columns: test.columns}); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q: got %v, want %s", test.columns, err, test.want)
		}
	}
	for want, columns := range map[string][]string{" Acme ": {"brand"}, " Lamp   Acme ": {"model", "brand"}} {
		r := openReader(t, Options{Paths: []string{path}, Columns: columns})
		if rec := readAll(t, r)[0]; rec.Input != want {
			t.Errorf("%q: got %q, want %q", columns, rec.Input, want)
		}
	}
}

// A value that stands for none is left out of the input of several columns, in every format, and a single column keeps it.
func TestMissingParts(t *testing.T) {
	type row struct {
		Brand string `parquet:"brand"`
		Model string `parquet:"model"`
	}
	var table bytes.Buffer
	w := parquet.NewGenericWriter[row](&table)
	w.Write([]row{{"NULL", "Lamp"}, {"Acme", "NULL"}, {"NULL", "NULL"}})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text := func(s string) string { return `<c t="inlineStr"><is><t>` + s + `</t></is></c>` }
	sheet := `<worksheet` + mainSpace + `><sheetData><row>` + text("brand") + text("model") + `</row><row>` + text("NULL") + text("Lamp") +
		`</row><row>` + text("Acme") + text("NULL") + `</row><row>` + text("NULL") + text("NULL") + `</row></sheetData></worksheet>`
	for file, content := range map[string]string{
		"list.csv":     "brand,model\nNULL,Lamp\nAcme,NULL\nNULL,NULL\n",
		"list.jsonl":   `{"brand":"NULL","model":"Lamp"}` + "\n" + `{"brand":"Acme","model":"NULL"}` + "\n" + `{"brand":"NULL","model":"NULL"}`,
		"list.parquet": table.String(),
		"list.xlsx":    archived(t, listParts(sheet)),
	} {
		for columns, want := range map[string]string{"brand model": "Lamp|Acme|", "brand": "NULL|Acme|NULL"} {
			o := Options{
				Paths: []string{writeFile(t, file, content)}, Columns: strings.Fields(columns),
				Missing: func(value string) bool { return value == "NULL" },
			}
			var got []string
			for _, rec := range readAll(t, openReader(t, o)) {
				got = append(got, rec.Input)
			}
			if strings.Join(got, "|") != want {
				t.Errorf("%s, %s: got %q, want %q", file, columns, got, want)
			}
		}
	}
}
