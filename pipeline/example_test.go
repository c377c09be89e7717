package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/reader"
)

// A session asks the embedded service for two products. The same session started again asks nothing,
// if the service is a hosted one.
func Example() {
	dir, err := os.MkdirTemp("", "bulkcat-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	input, output := filepath.Join(dir, "products.csv"), filepath.Join(dir, "categories.csv")
	if err := os.WriteFile(input, []byte("title\nCordless drill with two batteries\nLeather dog collar\n"), 0o666); err != nil {
		panic(err)
	}

	ctx := context.Background()
	session, err := pipeline.Open(ctx, pipeline.Options{
		Kind:    client.Product,
		Service: pipeline.Service{Attempter: embedded.New(embedded.Options{}), Name: "embedded"},
		Input:   reader.Options{Paths: []string{input}},
		Output:  pipeline.OutputOptions{Path: output},
	})
	if err != nil {
		panic(err)
	}
	defer session.Close()
	a, err := session.Run(ctx)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%s: %d records, %d without an answer\n", a.Ending, a.Counts.Settled(), a.Counts.Unanswered())
	fmt.Println(filepath.Base(a.Outputs[0].Path), "and", filepath.Base(runfiles.AccountPath(output)))
	// Output:
	// complete: 2 records, 0 without an answer
	// categories.csv and categories.csv.run.json
}

// A program has its inputs in memory and takes the answers itself. A sequence with the same store goes on where the one
// before was left.
func ExampleAnswers() {
	server := clienttest.New(clienttest.Options{}) // stands for the service
	baseURL, stop := server.Listen()
	defer stop()
	folder, err := os.MkdirTemp("", "bulkcat-example-")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(folder)

	c, err := client.New(client.Options{BaseURL: baseURL, APIKey: "the-key"})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	options := pipeline.Options{
		Kind:    client.Product,
		Service: pipeline.HostedService(c),
		Input:   reader.Options{Records: reader.Inputs(slices.Values([]string{"Cordless drill", "Leather dog collar"}))},
		Store:   pipeline.StoreOptions{Path: filepath.Join(folder, "answers.db")},
	}
	for range 2 {
		for answer, err := range pipeline.Answers(context.Background(), options) {
			if err != nil { // the service is out, say: the next sequence goes on
				panic(err)
			}
			fmt.Println(answer.Record.Input, "is", answer.Entries[0].Value)
		}
		fmt.Println(len(server.Visits()), "requests")
	}
	// Output:
	// Cordless drill is About > Cordless drill
	// Leather dog collar is About > Leather dog collar
	// 2 requests
	// Cordless drill is About > Cordless drill
	// Leather dog collar is About > Leather dog collar
	// 2 requests
}

// A hosted service is asked with a client.
func ExampleHostedService() {
	c, err := client.New(client.Options{BaseURL: "https://api.example.com", APIKey: "the-key"})
	if err != nil {
		panic(err)
	}
	defer c.Close()
	service := pipeline.HostedService(c)
	fmt.Println(service.Name, service.Hosted)
	// Output:
	// https://api.example.com true
}

// The errors of Check name options, so that a program can name settings of its own: a flag, or a key of a file.
func ExampleOptions_Check() {
	err := pipeline.Options{
		Kind:      client.Website,
		Requested: account.Requested{Scheme: "ftp"},
		Output:    pipeline.OutputOptions{Path: "out.csv"},
	}.Check()
	var option interface{ OptionName() string }
	if errors.As(err, &option) {
		fmt.Println(option.OptionName())
	}
	fmt.Println(err)
	// Output:
	// pipeline.Scheme
	// Scheme: "ftp" must be https or http
}

// The ending of a run is in the account, and follows from the error of Run.
func ExampleEndingOf() {
	fmt.Println(pipeline.EndingOf(nil))
	fmt.Println(pipeline.EndingOf(&pipeline.StopError{Cause: account.Deadline}))
	fmt.Println(pipeline.EndingOf(errors.New("the disk is full")))
	// Output:
	// complete
	// deadline
	// failed
}
