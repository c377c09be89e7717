// Package flow is the engine of a run. [Run] reads records, asks for the answers that are not stored, and writes rows in
// input order. [NewForecast] says what a run would ask. The caller opens the [Parts]; package pipeline does so for a session,
// and writes its account.
//
// # Terms
//
// A task is one record in one classification: it has one request, and the rows of its answer. An attempt sends the request
// once. A task ends with an outcome: an answer, or a rejection, with which the service refuses the input for good. A task whose
// attempts are used up ends without an outcome, and the next run asks again. A renewal is a stored answer that is asked again.
// The window bounds the bytes of the records between reading and writing.
//
// # Stages
//
// Run starts all goroutines of a run, in a table of stages:
//
//	read     reads records, and makes a task for each classification, within a bounded window
//	look up  normalizes the input of a task, joins equal requests (all spellings of a website, if Options say so), and finds
//	         stored answers and free answers (Options.Free)
//	claim    claims requests shortly before they are asked, and waits for requests that other processes are asking
//	ask      asks the service for the other requests, when client/limits allows
//	commit   makes outcomes durable, many with one fsync
//	flatten  takes the tasks in input order, and makes the rows of each task
//	write    writes the rows to the sink
//
// A dispatcher of client/ask gives the tasks to the workers of the stage ask; their number is the highest number of requests in
// flight so far. A task that waits for a retry, or for an equal request that is being asked, holds no worker. The window bounds
// the memory: a record is read only when it fits in the window, and leaves the window when its rows are written.
package flow
