package loop

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Format is the shape of the output.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
	Folder  Format = "folder" // of CSV parts
)

// Formats are all of them.
var Formats = []Format{CSV, JSONL, Parquet, Folder}

func outputName(format Format) string {
	if format == Folder {
		return "out"
	}
	return "out." + string(format)
}

const (
	inputName = "catalog.csv"
	partRows  = 50 // rows of a part: several parts in a cycle
)

func arguments(format Format) []string {
	args := []string{"product", inputName, "--rate", "0", "--workers", strconv.Itoa(Workers), "--quiet"}
	if format == Folder {
		return append(args, "-o", outputName(format)+"/", "--output-format", string(CSV), "--part-rows", strconv.Itoa(partRows))
	}
	return append(args, "-o", outputName(format))
}

// process is a running bulkcat, a direct child, so that a kill reaches it.
type process struct {
	cmd    *exec.Cmd
	dir    string
	stderr bytes.Buffer
	began  time.Time
}

// start writes the input to dir and starts bulkcat.
func start(bulkcat, dir string, format Format, input []byte, url string) (*process, error) {
	if err := os.WriteFile(filepath.Join(dir, inputName), input, 0o666); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(bulkcat, arguments(format)...), dir: dir, began: time.Now()}
	p.cmd.Dir = dir
	p.cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(),
		"BULKCAT_BASE_URL=" + url, "BULKCAT_API_KEY=key-of-the-crash-loop",
	}
	p.cmd.Stderr = &p.stderr
	return p, p.cmd.Start()
}

// ending is the end of a start.
type ending struct {
	killed   bool // by us
	status   int
	duration time.Duration
}

// wait kills the process at the moment, unless the process has ended before. It returns an error
// if the process was not killed and its exit status is neither 0 nor 3.
func (p *process) wait(ctx context.Context, m moment) (ending, error) {
	running, over := context.WithTimeout(ctx, hung)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = p.cmd.Wait() // ProcessState has the result
		over()
	}()
	m(running, p.dir)
	_ = p.cmd.Process.Kill() // fails if the process has ended
	expired := running.Err() == context.DeadlineExceeded
	<-ended
	e := ending{duration: time.Since(p.began), status: p.cmd.ProcessState.ExitCode()}
	if status, ok := p.cmd.ProcessState.Sys().(syscall.WaitStatus); ok {
		e.killed = status.Signaled() && status.Signal() == syscall.SIGKILL
	}
	switch {
	case ctx.Err() != nil:
		return e, ctx.Err()
	case expired:
		return e, fmt.Errorf("the process has not ended after %v", hung)
	case e.killed, e.status == 0, e.status == 3:
		return e, nil
	}
	return e, fmt.Errorf("%v: %s", p.cmd.ProcessState, strings.TrimSpace(p.stderr.String()))
}
