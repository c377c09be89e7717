// Package clienttest provides a faulty Categorization Service for tests of clients and runs.
//
// The faults of a [Server] depend only on the seed, the input and the attempt, so a test can be repeated. A
// Server also enforces a rate and a quota, has outages, and counts the requests: see [Audit]. It serves real
// sockets ([Server.Listen]) or pipes in memory ([Server.Pipe]), for tests with testing/synctest.
package clienttest
