// Package client asks a Categorization Service for the categories of websites and products.
//
// # Terms
//
//   - A [Request] is a kind (website or product), a normalized input and a classification. Equal requests
//     have equal answers. Package client/normalize makes requests.
//   - An attempt is one HTTP exchange for a request. A [RetryPolicy] decides whether and when another attempt follows a failed
//     one.
//   - An [Answer] is the service's categories for a request, in the service's order.
//   - An [Entry] is one category of an answer, with its confidence.
//   - A rejection is the service's permanent refusal of one input: an [Error] of the class Rejected.
//   - The quota is the number of requests that the API key may still send: see [Usage].
//
// [HTTP.Categorize] asks a hosted service, and repeats failed attempts. An [Attempter] makes single attempts, for programs such as
// package pipeline, which keep a rate and decide themselves when to ask again. An HTTP and the embedded service are Attempters.
// Package client/probe finds out how to ask a service.
//
// # Errors
//
// A failed attempt returns an [*Error]. Its [Class] says what to do next: make another attempt, give up the input, or stop the
// run. If the context ends, the error is or wraps the context's cause.
//
// # Use
//
//	service, err := client.New(client.Options{BaseURL: "https://api.example.com", APIKey: key})
//	request, err := normalize.Normalizer{}.Request(client.Website, "example.com", client.TaxonomyV3)
//	answer, err := service.Categorize(ctx, request)
package client
