// Package client asks a Categorization Service what a website or a product is.
//
// Terms, the same in code, flags and logs:
//
//   - A [Request] is one question: a kind (website or product), a normalized input
//     and a classification. Equal requests are the same question, asked once.
//   - An [Answer] is what the service said: a list of entries, best first as the
//     service ordered them.
//   - An [Entry] is one category with its confidence.
//   - An attempt is one HTTP exchange. A request that meets a passing trouble takes
//     several attempts; [RetryPolicy] says when the next one is due.
//   - An [Error] carries a [Class] that says what to do next: try again, give this
//     input up, or stop the run.
//
// A [Categorizer] answers requests. [HTTP] is the one that speaks to a service,
// hosted or embedded; whatever wraps it is a Categorizer too.
//
//	service, err := client.New(client.Options{BaseURL: "https://api.example.com", APIKey: key})
//	request, err := client.Normalizer{}.Request(client.Website, "example.com", client.TaxonomyV3)
//	answer, err := service.Categorize(ctx, request)
//	defer answer.Release()
package client
