// Package servers runs the bulkcat binary against servers that other people wrote, and
// tests that a run copes with rate limits, connection limits, reloads and outages.
//
//	go test .                                    # the short form: four cases, no Caddy
//	go test . -full -timeout 0 -v                # all cases
//	go test . -full -v -run 'TestServers/A02'    # one case, by the beginning of its name
//
// In the pattern an underscore stands for a space: C1_ is not C10.
//
// A case starts up to four processes and servers, in this order from left to right:
//
//		bulkcat --> toxiproxy --> nginx or Caddy --> the service
//
//	  - The service (package clienttest) is the Categorization Service: an HTTP server in the
//	    test process. It answers after a latency, fails where a case says so, and records each
//	    request.
//	  - nginx and Caddy are child processes. They enforce
//	    limits, speak TLS and HTTP/2, and are reloaded or restarted while bulkcat runs.
//	  - toxiproxy (package network) is a library in the test process. It delays, resets and
//	    silences connections.
//	  - bulkcat (package run) is a child process. It is killed at a deadline.
//
// nginx and Caddy use a certificate that bulkcat trusts by --ca-file.
//
// A plan states the servers, the flags and the targets of one run; [perform] carries it out
// and compares the result with the targets. The targets are:
//
//   - ideal: the records divided by the rate that the servers allow.
//   - at most: the longest time that the run may take.
//   - refused: the share of requests with the status 429 or 503, from 10 seconds after the
//     first request.
//   - warnings: the lines of bulkcat's log with the level WARN.
//   - exit: bulkcat's exit status.
//
// Every run must also write one row for each record, in input order, and must not be
// answered twice for an input. Only where an answer can be lost on its way, because a case
// resets, silences or stops connections, is a second answer allowed, and only for an answer
// that the client cannot have received.
//
// At the end the suite prints a table with a line for each case. The environment variables:
//
//   - BULKCAT names a binary to test; without it the suite builds the one of this tree.
//   - SERVERS_REPORT names a file that gets the table.
//   - CI makes a missing nginx a failure; without it the cases that need nginx are skipped.
package servers
