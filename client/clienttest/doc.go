// Package clienttest is a faulty Categorization Service for tests, as net/http has httptest: it
// fails by a seed, enforces a rate and a quota in every way that services are known to,
// goes down and comes back, and keeps an audit of every request.
//
// It is served over real sockets ([Server.Listen]) or over pipes in memory
// ([Server.Pipe]), where testing/synctest moves the time.
package clienttest
