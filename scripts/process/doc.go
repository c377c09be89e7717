// Package process starts, watches and ends the programs that tests and measurements run, and reads their outputs.
//
// A [Process] is a direct child, so that a kill reaches it. Its output goes to a log file, which errors quote. It ends when its
// context ends and, on Linux, when its parent dies, so that no process is left.
package process
