// Package clienttest provides a faulty Categorization Service for tests of clients and runs.
//
// A [Server] handles a request in small steps: it checks the key, waits, enforces a rate and a quota, fails or
// answers, as its [Options] say. The faults depend only on the seed, the input and the attempt, so a test can be
// repeated. A Server records each request: see [Server.Audit] and [Server.Visits]. It serves real sockets
// ([Server.Listen], [Endpoint]) or pipes in memory ([Server.Pipe]), for tests with testing/synctest.
//
// A [Lean] service gives the same answers without faults, limits and records. It uses little processor time, so that
// a client that is measured does not wait for it.
package clienttest
