package reader_test

import (
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
	r, err := reader.Open(reader.Options{
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
