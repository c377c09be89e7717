package stdin_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/internal/stdin"
	"github.com/bulkcat/bulkcat/reader"
)

// A spool copies a pipe to a file, from which a run can be resumed.
func ExampleSpool() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	pipe := strings.NewReader("https://a.example\n") // instead of os.Stdin

	spool, err := stdin.NewSpool(pipe, filepath.Join(dir, "input"))
	if err != nil {
		log.Fatal(err)
	}
	defer spool.Close()
	if err := spool.Keep(); err != nil {
		log.Fatal(err)
	}
	r, err := reader.Open(context.Background(), reader.Options{Paths: []string{"-"}, Stdin: spool, Format: "txt"})
	if err != nil {
		log.Fatal(err)
	}
	defer r.Close()
	record, err := r.Read()
	fmt.Println(record.Input, err)
	fmt.Println(filepath.Base(spool.Path()))
	// Output:
	// https://a.example <nil>
	// input
}
