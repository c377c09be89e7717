package main

import (
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
)

// otherwise says how to change the command line of a run that a bound of all its starts has stopped.
var otherwise = map[account.Cause]string{
	account.Budget:      "   # with a larger --max-requests or --max-cost",
	account.Expectation: "   # with other expectations, or another --expect-else",
	account.Deadline:    "   # with another --finish-by, or without",
}

// resumeCommand returns the command line that resumes the run after an error; "" if the same command would end at the same point.
func resumeCommand(session *pipeline.Session, err error) string {
	resumption, ok := session.Resumption(err)
	if !ok {
		return ""
	}
	// The URL is a secret, and standard error may be kept in a file.
	args, hidden := without("--notify", os.Args)
	args = slices.DeleteFunc(args, func(arg string) bool { return arg == "--"+untilStdinEnds })
	if shard := session.Shard().String(); shard != "" { // the environment of another task may have another shard
		args, _ = without("--shard", args)
		args = append(args, "--shard", shard)
	}
	command := commandLine(args)
	switch {
	case resumption.Stdin == "-":
		command += "   # with the same standard input"
	case resumption.Stdin != "":
		command += " < " + shellQuote(resumption.Stdin)
	}
	if resumption.Cut {
		command += "   # the pipe had not ended: the file holds the part that was read"
	}
	if stop, stopped := errors.AsType[*pipeline.StopError](err); stopped {
		command += otherwise[stop.Cause]
	}
	if strings.Contains(command, "/dev/fd/") {
		command += "   # with <(...) again in the place of /dev/fd/N"
	}
	if hidden {
		command += "   # and --notify, whose URL is a secret"
	}
	return command
}

// without removes a flag and its values.
func without(flag string, args []string) (others []string, found bool) {
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == flag:
			i++
		case strings.HasPrefix(args[i], flag+"="):
		default:
			others = append(others, args[i])
			continue
		}
		found = true
	}
	return others, found
}

// commandLine quotes a command line, which can then be typed again. It has no secrets: every user of the machine can see command
// lines, so secrets are in files or the environment.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = shellQuote(a)
	}
	return strings.Join(quoted, " ")
}

// shellQuote quotes a for a POSIX shell.
func shellQuote(a string) string {
	const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,@%+"
	if a != "" && strings.Trim(a, plain) == "" {
		return a
	}
	return "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
}
