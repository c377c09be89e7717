package writer_test

import (
	"fmt"
	"log"

	"github.com/bulkcat/bulkcat/writer"
)

// Results become rows, one per entry, and rows go to a sink in batches.
func Example() {
	schema := writer.Schema{Levels: 2, Carry: []string{"id"}}
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

	sink, err := writer.Open(writer.Options{Path: "-", Format: writer.CSV, Schema: schema})
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
