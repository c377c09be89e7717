// Package loop kills bulkcat again and again, at every instant of a run, and compares
// what it has written in the end with the output of a run that nobody disturbed.
//
// A start is one process. A cycle is one output: it begins with nothing but the input,
// and is started as often as it takes until a start ends by itself. A kill is SIGKILL to
// the process at a moment of one of the [Phases].
//
// After every kill, what is published must be whole: a file of the output is not there,
// or has all its bytes. After every cycle the folder must hold the files, byte for byte,
// that an undisturbed run leaves behind, and no other. The service is a faulty one that
// counts what it answers: only what was in flight at a kill may be asked twice.
package loop
