// Package verify proves an output of a run. The same input and the same answers give the same bytes, so Run writes the run
// again, offline, and compares the bytes with the output and its account. Run writes to no file, and asks no service.
//
// # Terms
//
//	finding      a difference from what is expected
//	balanced     without findings
//	not compared an answer that the run did not get: the store lacks the run's answer, or another run has asked again.
//	             Of its record only the input and the carried columns are compared.
//	not checked  a property of the output that could not be compared at all, and why
//
// # How
//
// A first pass writes the run again into hashes. If the hashes are those of the output, the output has the counts of the run. Else a
// second pass reads the output, counts its rows, and compares them with the rows of the run, record by record, up to the first
// record of each file that differs. Memory does not grow with the output.
package verify
