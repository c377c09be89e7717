// Package embedded is an implementation of the Categorization Service that runs in process or
// behind a listener. It has the interface of the hosted services and answers from taxonomies and
// word lists that are part of the program. It needs no vendor, no key and no network.
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
// Usage accepts GET and HEAD. The others accept GET and POST, with the parameters in the query, a form or a JSON object. A
// website is an http or https URL, and its classifications are taxonomy_v3 and naics. A product is a title or an http or https
// URL, and its classification is product_taxonomy. An answer without entries means that no category fits.
//
// # Evidence
//
// A website is classified by the words of its host name and path and, if there is a Fetch and the fetch succeeds, by its page.
// Without a page the confidence is lower. A product URL is classified by the titles in its page and by a title that is made of
// its path. A confidence is the probability that its entry is right, estimated from samples.
//
// The response header X-Bulkcat-Cost is "page" if the service has fetched a page for the answer, and "none" if the answer can be
// computed again at any time. Clients need not store an answer with "none".
//
// # Keys
//
// A key may have a quota of answers and a rate of categorizations: see Grant and LoadKeys. Every answer is charged to the quota.
// Errors, usage and answers about addresses of the local network, which are never read, are not charged. SetGrants replaces the
// keys while the Service runs. Answers to a key with a rate have the headers RateLimit-Policy and RateLimit. With a Ledger and
// KeepUsage, the used quota outlives the Service.
//
// # Serving others
//
//	notes, err := answers.OpenNotes(answers.Options{Path: "used.db"})
//	ledger, err := embedded.OpenLedger(notes)
//	service := embedded.New(embedded.Options{Grants: grants, Ledger: ledger})
//	go service.KeepUsage(ctx)
//	err = service.Server(embedded.ServerOptions{Addr: ":8080"}).ListenAndServe()
//
// A Server limits the size and the duration of requests and the number in flight. It answers
// /healthz, /metrics and /openapi.json without a key. Every request has an id: the client's
// X-Request-ID, or a generated one. The id is in the response's X-Request-ID, in errors and in
// the access log.
//
// # Errors
//
// An error has a status and the body {"error":{"status":400,"message":"..."}}, to which a Server
// adds "request_id":
//
//	400  a parameter is missing or malformed
//	401  the x-api-key header is missing or unknown
//	402  the key's quota is used up ("remaining":"0" stands beside "error")
//	404  no such operation, or no such classification
//	405  another method
//	413  an input over 64 KiB, in the body
//	414  an input over 64 KiB, in the query
//	429  the key exceeds its rate; Retry-After says when to try again
//	503  the request was canceled; or, with Retry-After, too many requests are in
//	     flight or need pages of one host
package embedded
