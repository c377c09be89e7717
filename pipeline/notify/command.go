package notify

import (
	"context"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// Command is a command line for the shell, which runs at the end of a run.
type Command struct {
	Line    string
	Output  io.Writer // of the command's standard output and standard error
	Without []string  // variables of this program that the command does not get
}

// outputDelay is how long the output of a command is read after the command has ended: a process that the
// command leaves in the background may keep the output open.
const outputDelay = time.Second

// Run runs the command, with the facts in its environment, and waits for its end. The command is killed
// when ctx ends.
func (c Command) Run(ctx context.Context, occasion Occasion, facts Facts) error {
	shell := []string{"sh", "-c"}
	if runtime.GOOS == "windows" {
		shell = []string{"cmd", "/C"}
	}
	cmd := exec.CommandContext(ctx, shell[0], shell[1], c.Line)
	cmd.Stdout, cmd.Stderr = c.Output, c.Output
	cmd.WaitDelay = outputDelay
	cmd.Env = append(c.inherited(), environment(occasion, facts)...)
	return cmd.Run()
}

func (c Command) inherited() []string {
	var env []string
	for _, variable := range os.Environ() {
		kept := true
		for _, name := range c.Without {
			kept = kept && !strings.HasPrefix(variable, name+"=")
		}
		if kept {
			env = append(env, variable)
		}
	}
	return env
}

// environment has the facts as variables.
func environment(occasion Occasion, f Facts) []string {
	status := ""
	if f.Status != nil {
		status = strconv.Itoa(*f.Status)
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
		{"SECONDS", strconv.FormatFloat(f.Seconds, 'f', 1, 64)},
	} {
		env = append(env, "BULKCAT_"+v[0]+"="+v[1])
	}
	return env
}
