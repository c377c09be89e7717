package writer_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/writer"
)

// Results become rows, one per entry, and rows go to a sink in batches.
func Example() {
	schema := writer.Schema{Form: writer.Form{Levels: 2}, Carry: []string{"id"}}
	results := []writer.Result{
		{
			Record: 1, Input: "https://news.example", Status: writer.StatusOK, Classification: "taxonomy_v3",
			Entries: []writer.Entry{{Value: "News > World", Confidence: 0.87}, {Value: "Travel", Confidence: 0.2}},
			Fields:  []string{"a17"},
		},
		{
			Record: 2, Input: "https://dead.example", Status: writer.StatusEmpty, Classification: "taxonomy_v3",
			Fields: []string{"a18"},
		},
	}

	sink, err := writer.Open(context.Background(), writer.Options{Path: "-", Format: writer.CSV, Schema: schema})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Abort() // does nothing once Close has succeeded

	var rows []writer.Row
	for _, r := range results {
		rows = schema.Flatten(rows[:0], r)
		if err := sink.Write(rows); err != nil {
			log.Fatal(err)
		}
	}
	published, err := sink.Close()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(published.Rows, "rows")

	// Output:
	// record,input,status,classification,rank,value,category_id,confidence,level_1,level_2,error,id
	// 1,https://news.example,ok,taxonomy_v3,1,News > World,,0.87,News,World,,a17
	// 1,https://news.example,ok,taxonomy_v3,2,Travel,,0.2,Travel,,,a17
	// 2,https://dead.example,empty,taxonomy_v3,,,,,,,,a18
	// 3 rows
}

// A folder holds parts of some rows each. The file _SUCCESS says that the folder is complete.
func ExampleOpen_folder() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)

	sink, err := writer.Open(context.Background(), writer.Options{Path: filepath.Join(dir, "out"), Folder: true, Format: writer.JSONL, PartRows: 2})
	if err != nil {
		log.Fatal(err)
	}
	defer sink.Abort()
	for n := int64(1); n <= 3; n++ {
		if err := sink.Write([]writer.Row{{Record: n, Status: writer.StatusEmpty}}); err != nil {
			log.Fatal(err)
		}
	}
	published, err := sink.Close()
	if err != nil {
		log.Fatal(err)
	}
	for _, f := range published.Files {
		fmt.Println(filepath.Base(f.Path), f.FirstRecord, f.LastRecord)
	}
	// Output:
	// part-00001.jsonl 1 2
	// part-00002.jsonl 3 3
}

func ExampleSchema_Columns() {
	schema := writer.Schema{Form: writer.Form{Levels: 1}, Carry: []string{"id", "Status"}}
	for _, c := range schema.Columns() {
		fmt.Print(c.Name, " ")
	}
	// Output: record input status classification rank value category_id confidence level_1 error id input_Status
}
