// Package hostile is a Categorization Service that misbehaves as told, for tests: it
// fails by a seed, enforces a rate and a quota in every way that services are known to,
// goes down and comes back, and keeps an audit of every request.
//
// It is served over real sockets ([Server.Listen]) or over pipes in memory
// ([Server.Pipe]), where testing/synctest moves the time.
package hostile
