package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
	"github.com/bulkcat/bulkcat/client/normalize"
)

func Example() {
	baseURL, stop := clienttest.New(clienttest.Options{}).Listen() // instead of https://api.example.com
	defer stop()
	service, err := client.New(client.Options{BaseURL: baseURL, APIKey: "secret"})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()

	request, err := normalize.Normalizer{}.Request(client.Website, "Example.com/", client.TaxonomyV3)
	if err != nil {
		log.Fatal(err)
	}
	answer, err := service.Categorize(context.Background(), request)
	if err != nil {
		log.Fatal(err)
	}
	for _, e := range answer.Entries {
		fmt.Println(e.Value, e.Confidence)
	}
	// Output:
	// About > https://example.com 0.5
	// Everything 0.25
}

// The class of an error says what to do next.
func ExampleError() {
	baseURL, stop := clienttest.New(clienttest.Options{Missing: 1}).Listen()
	defer stop()
	service, err := client.New(client.Options{BaseURL: baseURL})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()

	request := client.Request{Kind: client.Website, Input: "https://example.com", Classification: client.TaxonomyV3}
	_, err = service.Categorize(context.Background(), request)
	var e *client.Error
	if errors.As(err, &e) {
		fmt.Println(e.Class, e.Status)
		fmt.Println(e)
	}
	// Output:
	// rejected 404
	// HTTP 404 Not Found: no such site
}

func ExampleRetryPolicy_Next() {
	policy := client.DefaultRetryPolicy()
	policy.Jitter = func(bound time.Duration) time.Duration { return bound } // instead of a random wait

	failure := &client.Error{Class: client.Transient, Status: 500}
	for attempts := range policy.MaxAttempts {
		wait, ok := policy.Next(attempts+1, 0, failure)
		fmt.Print(wait, " ", ok, "; ")
	}
	// Output: 250ms true; 500ms true; 1s true; 2s true; 4s true; 8s true; 16s true; 0s false;
}

func ExampleUsage_Requests() {
	for _, remaining := range []string{"1,500", "unlimited"} {
		n, ok := client.Usage{Remaining: remaining}.Requests()
		fmt.Println(n, ok)
	}
	// Output:
	// 1500 true
	// 0 false
}
