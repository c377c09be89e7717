// Package embedded is the Categorization Service itself, to be run in process
// or behind a listener: it answers the interface that the hosted services
// answer, from taxonomies and word lists that are part of the program. It needs
// no vendor, no key and no network.
//
//	service := embedded.New(embedded.Options{Fetch: page.New(page.Options{})})
//	client := &http.Client{Transport: service.RoundTripper()}
//	res, err := client.Get("http://embedded/api/v1/product/categorization?query=trail+running+shoes")
//
// # Operations
//
//	/api/usage                          {"plan":"embedded","remaining":"unlimited"}
//	/api/v1/website/categorization      {"taxonomy_v3":[{"value":"Travel > Hotels","confidence":0.87}]}
//	/api/v1/product/categorization      {"product_taxonomy":[{"value":"...","confidence":0.9}]}
//
// Usage takes GET; the others take GET and POST, with the parameters in the
// query, a form or a JSON object. A website is an http or https URL and is
// answered in taxonomy_v3 or naics; a product is a title or such a URL and is
// answered in product_taxonomy. An empty list says that nothing fits.
//
// # Evidence
//
// A website is judged by its page, where there is a Fetch and the page can be
// had, and by the words of its host name and path. Without a page the name is
// all there is, and it earns less confidence. A product URL is judged by its
// page's title and the words of its path, read as a title. A confidence is the
// chance that its entry is right, as far as it can be told from samples.
//
// The response header X-Bulkcat-Cost says what an answer has cost: "page" if a
// page was fetched for it, "none" if it can be had again for nothing. A client
// need keep only answers that cost something.
//
// # Keys
//
// A key may have a quota of answers and a rate of categorizations: see Grant and
// LoadKeys. An answer uses up one of the quota; errors and usage cost nothing.
// Answers under a rate have the headers RateLimit-Policy and RateLimit. With a
// Journal what was used outlives the Service, as long as KeepUsage runs.
//
// # Serving others
//
//	journal, err := embedded.OpenJournal(vfs.Default, "used")
//	service := embedded.New(embedded.Options{Grants: grants, Journal: journal})
//	go service.KeepUsage(ctx)
//	err = service.Server(embedded.ServerOptions{Addr: ":8080"}).ListenAndServe()
//
// A Server bounds what a client may send, how long it may take and how many
// requests are in flight. It answers /healthz, /metrics and /openapi.json without
// a key. It names every request, as the client does in X-Request-ID or by itself,
// and repeats the name in the response's X-Request-ID, in errors and in the
// access log.
//
// # Errors
//
// An error is a status and {"error":{"status":400,"message":"..."}}, behind a
// Server with "request_id" in it:
//
//	400  a parameter is missing or malformed
//	401  the x-api-key header is missing or unknown
//	402  the key's quota is used up ("remaining":"0" stands beside "error")
//	404  no such operation, or no such classification
//	405  another method
//	413  an input over 64 KiB, in the body
//	414  an input over 64 KiB, in the query
//	429  the key asks faster than its rate; Retry-After says when to come again
//	503  the request was canceled before its answer was ready, or too many
//	     requests are in flight or wait for the pages of one host, with Retry-After
package embedded
