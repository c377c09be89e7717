package reader_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"strings"

	"github.com/bulkcat/bulkcat/reader"
)

func Example() {
	const table = `id,Domain
1,example.com
2,"unclosed.com
3,example.org
`
	r, err := reader.Open(context.Background(), reader.Options{
		Paths:      []string{"-"},
		Stdin:      strings.NewReader(table),
		Candidates: []string{"domain", "url"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()

	fmt.Println(r.Columns())
	for {
		rec, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			log.Fatal(err)
		}
		if rec.Err != nil {
			fmt.Println(rec.Number, "invalid:", rec.Err)
			continue
		}
		fmt.Println(rec.Number, rec.Input, rec.Fields)
	}
	// Output:
	// [id Domain]
	// 1 example.com [1 example.com]
	// 2 invalid: stdin:3: a quote opened on this line is never closed
	// 3 example.org [3 example.org]
}

// Options.ExtraColumns makes later keys and dotted paths of JSONL columns.
func ExampleReader_Columns() {
	r, err := reader.Open(context.Background(), reader.Options{
		Paths:        []string{"-"},
		Stdin:        strings.NewReader(`{"url":"https://a.example","shop":{"id":7}}` + "\n"),
		Candidates:   []string{"url"},
		ExtraColumns: []string{"shop.id"},
	})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	record, err := r.Read()
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%q\n%q\n", r.Columns(), record.Fields)
	// Output:
	// ["url" "shop" "shop.id"]
	// ["https://a.example" "{\"id\":7}" "7"]
}

// The type of an error of Open says which option to change.
func ExampleOpen() {
	_, err := reader.Open(context.Background(), reader.Options{Paths: []string{"-"}, Stdin: strings.NewReader("id,site\n1,a.example\n"), Format: "csv", Candidates: []string{"url"}})
	var missing *reader.ColumnError
	if errors.As(err, &missing) {
		fmt.Println(missing.Columns)
	}
	// Output: [id site]
}
