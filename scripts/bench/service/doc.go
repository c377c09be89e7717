// Package service is a Categorization Service for measuring clients. It answers any input, at
// once or after a latency, and uses little processor time, so that the client is the bottleneck.
//
// It speaks just enough HTTP/1.1 over a connection, plain or with TLS: requests without a
// body, one after the other, kept alive. For HTTP/2 it uses the server of net/http. An answer
// depends only on the input and the classification: three entries of the real taxonomy, some 250
// bytes.
package service
