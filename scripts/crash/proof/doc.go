// Package proof runs a gateway under load: several runs of bulkcat ask one gateway for lists that overlap, the upstream has a
// rate limit and faults, and the gateway is killed with SIGKILL and started again many times. It compares the requests at the
// upstream with the answers of the runs.
//
// A run has its own keys, store and output. An answer is acknowledged when a run has received it: the
// column answered_at of the output has the time. An attempt at the upstream that arrives later for the
// same input is a second payment. An answer that is asked for again is explained only by a death: the gateway was killed,
// or its upstream died, while the answer was in flight.
//
// The upstream may be in trouble: it dies, refuses all requests with the time that is left, or revokes the key of the gateway.
// Every row must be right at the end.
package proof
