// Package service is a Categorization Service to measure clients with: it answers any
// input, at once or after a chosen latency, and costs its processor as little as it can,
// so that the client is what a measurement shows.
//
// It speaks just enough HTTP/1.1 over a connection, plain or with TLS: requests without a
// body, one after the other, kept alive. For HTTP/2 it uses the server of net/http. What
// it answers depends on the input and the classification alone: three entries of the real
// taxonomy, some 250 bytes.
package service
