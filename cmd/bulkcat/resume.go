package main

import (
	"errors"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline"
)

// resumeCommand is the command line that goes on after an error; "" where the same command
// cannot get further: the answers of nothing are kept, the input is gone, or the command, the
// input or the service has to be changed first.
func (n *session) resumeCommand(err error) string {
	if n.flags.output.path == "-" || !n.claimed || !canResume(err) {
		return ""
	}
	command := commandLine(os.Args)
	switch {
	case n.spool != nil && n.spool.Whole():
		return command + " < " + shellQuote(n.spool.Path())
	case n.spool != nil:
		return command + " < " + shellQuote(n.spool.Path()) + "   # the pipe had not ended: this is what came through"
	case !slices.Contains(n.flags.input.Paths, "-"):
		return command
	case n.interrupt != nil: // a pipe that was not kept
		return ""
	}
	return command + "   # with the same file as standard input"
}

// canResume says whether the same command gets further after an error: the run was stopped,
// or this machine failed, as with a full disk.
func canResume(err error) bool {
	if _, refused := errors.AsType[*pipeline.ServiceError](err); refused {
		return false
	}
	_, stopped := errors.AsType[*pipeline.StopError](err)
	_, failed := errors.AsType[syscall.Errno](err)
	return stopped || failed
}

// commandLine is a command line to be typed again. It holds no secret: those have files,
// since every user of a machine can see its command lines.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shellQuote(a)
	}
	return strings.Join(quoted, " ")
}

// shellQuote makes one word of a for a POSIX shell.
func shellQuote(a string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"
	if a != "" && strings.Trim(a, plain) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
