package clienttest_test

import (
	"context"
	"fmt"
	"log"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/clienttest"
)

// A service answers one request, after which the quota is used up.
func Example() {
	server := clienttest.New(clienttest.Options{Quota: 1, QuotaStatus: 429, QuotaBody: "monthly limit reached"})
	baseURL, stop := server.Listen()
	defer stop()
	service, err := client.New(client.Options{BaseURL: baseURL})
	if err != nil {
		log.Fatal(err)
	}
	defer service.Close()
	for _, site := range []string{"https://a.example", "https://b.example"} {
		_, err := service.Categorize(context.Background(), client.Request{Kind: client.Website, Input: site, Classification: client.NAICS})
		fmt.Println(site, err)
	}
	audit := server.Audit()
	fmt.Println(audit.Answers, "answer,", audit.Late, "request beyond the quota")
	// Output:
	// https://a.example <nil>
	// https://b.example HTTP 429 Too Many Requests: monthly limit reached: the quota of the API key is used up
	// 1 answer, 1 request beyond the quota
}
