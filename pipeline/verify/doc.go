// Package verify proves an output of a run. The same input and the same answers give the same bytes, so it writes the run
// again, offline, and compares the bytes with those of the output and with its account. It writes to no file, and asks no
// service.
//
// # Terms
//
//	finding      a difference from what is expected
//	balanced     without findings
//	not compared an answer that is not the run's: it is not stored, or another run has asked again; of such a record
//	             only the input and the carried columns are compared
//	not checked  what could not be compared at all, and why
//
// # How
//
// A first pass writes the run again into hashes. Only where the hash of a file is another one, a second pass compares the rows of
// the run with those of the file, record by record, up to the first that differs. If all hashes are those of the run, its counts
// are those of the output; else the output is read for its counts. Memory does not grow with the output.
package verify
