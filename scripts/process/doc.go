// Package process starts, watches and ends the programs that tests and measurements run, and reads what they leave.
//
// A [Process] is a direct child, so that a kill reaches it. What it prints goes to a log file, which errors quote. It
// ends when its context does, and on Linux when the program that has started it dies, so that nothing is left behind.
package process
