// Package runfiles has the files that a run leaves: their paths, and how they are read and written. Package record says what
// they mean. Account, manifest and shards are written whole or not at all. Journal and status change while a run goes on: a
// damaged line of a journal is left out, and a status is only replaced.
package runfiles
