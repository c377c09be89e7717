// Package clienttest provides a faulty Categorization Service for tests of clients and runs.
//
// A [Server] handles a request in small steps, as its [Options] say: it checks the key, waits, enforces a rate and a quota, and
// fails or answers. The faults depend only on the seed, the input and the attempt, so tests are repeatable. A Server records
// each request: see [Server.Audit] and [Server.Visits]. It serves real sockets ([Server.Listen], [Endpoint]) or pipes in memory
// ([Server.Pipe]), for tests with testing/synctest.
//
// A [Lean] service answers without faults, limits and records. It uses little processor time, for benchmarks of clients.
package clienttest
