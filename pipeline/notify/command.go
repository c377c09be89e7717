package notify

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Command is a command line for the shell, which runs at the end of a run.
type Command struct {
	Line   string
	Output io.Writer     // of the command's standard output and standard error
	Limit  time.Duration // after which the command is killed; default [CommandLimit]
}

const (
	// programPrefix begins the names of the variables that this program reads: those of its flags, and those of its
	// secrets. The command gets none of them, because a bulkcat that the command starts would take the output and the
	// store of the run for its own, and because other programs have no use for the secrets.
	programPrefix = "BULKCAT_"
	// factPrefix begins the names of the variables with the facts. No flag has a variable of that prefix.
	factPrefix = programPrefix + "RUN_"
)

// outputDelay is how long the output of a command is read after the command has ended: a process that the
// command leaves in the background may keep the output open.
const outputDelay = time.Second

// CommandLimit is how long the end of a run waits for a command: long enough for the copy of a large output.
const CommandLimit = time.Hour

// Run runs the command, with the facts in its environment, and waits for its end. When ctx ends, the command is
// killed, with the processes that it has started; so it is after the limit.
func (c Command) Run(ctx context.Context, occasion Occasion, facts Facts) error {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	limit := cmp.Or(c.Limit, CommandLimit)
	ctx, cancel := context.WithTimeoutCause(ctx, limit, fmt.Errorf("the command has not ended within %v, and was killed", limit))
	defer cancel()
	cmd := exec.CommandContext(ctx, shell[0], shell[1], c.Line)
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.WaitDelay = outputDelay
	endGroup(cmd)
	cmd.Env = append(inherited(), environment(occasion, facts)...)
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// inherited is the environment without the variables of this program. Windows does not distinguish case in names.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return len(variable) >= len(programPrefix) && strings.EqualFold(variable[:len(programPrefix)], programPrefix)
	})
}

// environment has the facts as variables.
func environment(occasion Occasion, f Facts) []string {
	status := ""
	if f.Status != nil {
		status = strconv.Itoa(*f.Status)
	}
	cost, currency := "", ""
	if f.Cost != nil {
		cost, currency = f.Cost.Total.String(), f.Cost.Price.Currency
	}
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	var env []string
	for _, v := range [][2]string{
		{"EVENT", string(occasion)},
		{"STATUS", status},
		{"ENDING", f.Ending},
		{"ERROR", f.Error},
		{"OUTPUT", f.Output},
		{"ACCOUNT", f.Account},
		{"RECORDS", number(f.Counts.Records)},
		{"ROWS", number(f.Counts.Rows)},
		{"UNANSWERED", number(f.Counts.Unanswered)},
		{"REQUESTS", number(f.Counts.Requests)},
		{"COST", cost},
		{"CURRENCY", currency},
		{"SECONDS", strconv.FormatFloat(f.Seconds, 'f', 1, 64)},
	} {
		env = append(env, factPrefix+v[0]+"="+v[1])
	}
	return env
}
