// Package limiters runs the bulkcat binary, with default flags, against rate limiters of other projects: libraries of web
// frameworks, modules of web servers, and proxies.
//
//	make limiters                                   # from the root: installs, runs, prints the table
//	make limiters LIMITER=httprate                  # the cases whose names match
//
// A case starts these processes and servers, in this order from left to right:
//
//		bulkcat --> the recorder --> the limiter --> the service
//
//	  - The recorder is a reverse proxy in the test process. It keeps the time and the status of
//	    each request, and one connection to the limiter for each connection of bulkcat's.
//	  - A limiter is a middleware in the test process (Go), a small server in the folder python or
//	    node that answers by itself, or a proxy: Apache, Varnish, Squid or HAProxy.
//	  - The service is package clienttest. It answers after 20 ms; the proxies are before it.
//
// The marks of a case:
//
//   - time: at most 1.15 of the ideal time and 3 seconds, or two blocks where the limiter blocks.
//     The ideal time is the time of a client that knows the limiter.
//   - refused: the share of refused requests, from 30 seconds after the first request.
//   - out: no line of the log says that the service is out.
//   - exit: the exit status is 0, and the output has an answer for each record.
//   - limit and status: the limiter limits, and no other program refuses. A run that is faster than
//     the ideal and a refusal with an unexpected status are faults of the test.
//
// A case whose program is not installed is skipped with a message that says what to install. The
// environment variables, which make limiters sets:
//
//   - BULKCAT names the binary.
//   - LIMITERS names the folder for what pip and npm install.
//   - LIMITERS_REPORT names a file that gets the table.
//
// Several cases run at the same time. Each leaves its requests (requests.csv), its log and its
// output in a folder below LIMITERS, which a line "ARTIFACTS" of the test names.
package limiters
