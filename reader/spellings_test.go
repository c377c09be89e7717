package reader

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// Columns of several files whose names differ only in case are one column with the first name, unless a file has several of them.
func TestSpellingsOfColumns(t *testing.T) {
	for _, test := range []struct {
		name    string
		files   []string // "EXTENSION CONTENT"
		columns string
		want    []string // the fields of the records
	}{
		{"CSV", []string{"csv id,title\n1,a\n", "csv ID,Title\n2,b\n"}, "id title", []string{"1|a", "2|b"}},
		{"another order", []string{"csv id,title\n1,a\n", "csv note,TITLE,Id\nx,b,2\n"}, "id title note", []string{"1|a|", "2|b|x"}},
		{"space", []string{"csv id,title\n1,a\n", "csv ID , title\n2,b\n"}, "id title", []string{"1|a", "2|b"}},
		{"JSONL", []string{`jsonl {"id":1,"title":"a"}`, `jsonl {"ID":2,"Title":"b"}`}, "id title", []string{"1|a", "2|b"}},
		{"formats", []string{"csv ID,title\n1,a\n", `json [{"title":"b","id":2}]`}, "ID title", []string{"1|a", "2|b"}},
		{"a file has both", []string{"csv id,title\n1,a\n", "csv ID,title,id\n2,b,3\n"}, "id title ID", []string{"1|a|", "3|b|2"}},
		{"a later file has both", []string{"csv id,title\n1,a\n", "csv ID,title\n2,b\n", "csv ID,title,id\n3,c,4\n"}, "id title ID", []string{"1|a|", "|b|2", "4|c|3"}},
		{"one file", []string{`jsonl {"id":1,"title":"a"}` + "\n" + `{"ID":2,"title":"b"}`}, "id title ID", []string{"1|a|", "|b|2"}},
		{"underscores", []string{"csv item_id,title\n1,a\n", "csv item id,title\n2,b\n"}, "item_id title item id", []string{"1|a|", "|b|2"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var paths []string
			for _, file := range test.files {
				extension, content, _ := strings.Cut(file, " ")
				paths = append(paths, writeFile(t, "in."+extension, content))
			}
			for _, extra := range [][]string{nil, {"title"}} {
				r := openReader(t, Options{Paths: paths, Candidates: []string{"title"}, ExtraColumns: extra})
				var got []string
				for _, record := range readAll(t, r) {
					if record.Input == "" {
						t.Errorf("record %d has no input", record.Number)
					}
					got = append(got, strings.Join(record.Fields, "|"))
				}
				if columns := strings.Join(r.Columns(), " "); columns != test.columns || !slices.Equal(got, test.want) {
					t.Errorf("got %s, %q; want %s, %q", columns, got, test.columns, test.want)
				}
			}
		})
	}
}

// Columns of several Parquet files keep their common type, and a carried name finds every spelling.
func TestSpellingsOfParquet(t *testing.T) {
	type lower struct {
		ID    int64  `parquet:"id"`
		Title string `parquet:"title"`
	}
	type upper struct {
		ID    int64  `parquet:"ID"`
		Title string `parquet:"TITLE"`
	}
	dir := t.TempDir()
	if err := parquet.WriteFile(filepath.Join(dir, "1.parquet"), []lower{{1, "a"}}); err != nil {
		t.Fatal(err)
	}
	if err := parquet.WriteFile(filepath.Join(dir, "2.parquet"), []upper{{2, "b"}}); err != nil {
		t.Fatal(err)
	}
	for _, namedOnly := range []bool{false, true} {
		r := openReader(t, Options{Paths: []string{dir}, Candidates: []string{"title"}, ExtraColumns: []string{"Id"}, NamedOnly: namedOnly})
		place, _ := r.Place("Id")
		schema := r.Schema()
		for i, record := range readAll(t, r) {
			if want := fmt.Sprint(i + 1); record.Fields[place] != want || record.Nulls[place] {
				t.Errorf("record %d has the id %q", record.Number, record.Fields[place])
			}
		}
		if schema[place] != (Column{Name: "id", Type: TypeInt64}) || len(schema) != map[bool]int{false: 2, true: 1}[namedOnly] {
			t.Errorf("the columns are %v", schema)
		}
	}
}
