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

// Command is a shell command that is executed when a run ends.
type Command struct {
	Line   string
	Output io.Writer     // gets standard output and standard error
	Limit  time.Duration // the command is killed after it; default [CommandLimit]
}

const (
	// programPrefix begins the names of the environment variables that this program reads: its flags and its secrets. The
	// command does not get them: a bulkcat that the command starts would use the output and the store of the run, and other
	// programs need no secrets.
	programPrefix = "BULKCAT_"
	// factPrefix begins the names of the variables with the facts. No variable of a flag begins with it.
	factPrefix = programPrefix + "RUN_"
)

// outputDelay is how long Run reads output after the command has exited. A background process of the command may keep the
// output open.
const outputDelay = time.Second

// CommandLimit is the default of [Command].Limit. It is long enough to copy a large output.
const CommandLimit = time.Hour

// Run executes the command with the facts in its environment, and waits for it. When ctx is canceled or the limit passes, Run
// kills the command and the processes that it has started. The error is that of exec.Cmd.Run, or the cause of ctx, or says that
// the limit has passed.
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
	killGroup(cmd)
	cmd.Env = append(inherited(), environment(occasion, facts)...)
	err := cmd.Run()
	if err != nil && ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

// inherited returns the environment without the variables of this program. It ignores case, as Windows does.
func inherited() []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return len(variable) >= len(programPrefix) && strings.EqualFold(variable[:len(programPrefix)], programPrefix)
	})
}

// environment returns the facts as variables.
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
