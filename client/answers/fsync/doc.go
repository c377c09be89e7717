// Package fsync makes files durable while the goroutine that wants it waits, and nothing
// else does. A plain fsync holds its thread, and the runtime finds out late that the
// processor which is bound to it could run other goroutines meanwhile: with one processor a
// third of a millisecond for each commit of a store, or 7% of a run.
//
// It uses the kernel's asynchronous interface, which is Linux's (4.18 or later).
package fsync
