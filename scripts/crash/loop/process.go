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
	Shards  Format = "shards" // of a folder, by a run each, and one file that finish makes of them
	Copied  Format = "copied" // CSV, with a copy of the store: each kill loses the machine with its disk
)

// Formats are all of them.
var Formats = []Format{CSV, JSONL, Parquet, Folder, Shards, Copied}

const (
	inputName = "catalog.csv"
	partRows  = 50 // rows of a part: several parts in a cycle
	folder    = "out"
	shards    = 3
	copyEvery = time.Second
	copyRate  = "400/s" // so that a run of 2,000 records has several copies
)

// commands are the command lines of a cycle in dir.
func commands(format Format, dir string) [][]string {
	run := func(more ...string) []string {
		return append([]string{"product", inputName, "--rate", "0", "--workers", strconv.Itoa(Workers), "--quiet"}, more...)
	}
	parts := []string{"-o", folder + "/", "--output-format", string(CSV), "--part-rows", strconv.Itoa(partRows)}
	switch format {
	case Folder:
		return [][]string{run(parts...)}
	case Shards:
		var all [][]string
		for n := range shards {
			all = append(all, run(append(parts, "--shard", fmt.Sprintf("%d/%d", n+1, shards))...))
		}
		return append(all, []string{"finish", folder + "/", "-o", "out.csv", "--overwrite"}) // a killed finish may have published
	case Copied:
		return [][]string{run("-o", "out.csv", "--rate", copyRate, "--store-backup", copyOf(dir), "--store-backup-every", copyEvery.String())}
	}
	return [][]string{run("-o", "out."+string(format))}
}

// copyOf is the folder with the copy of the store of a cycle.
func copyOf(dir string) string { return dir + "-copy" }

// process is a running bulkcat, a direct child, so that a kill reaches it.
type process struct {
	cmd    *exec.Cmd
	dir    string
	stderr bytes.Buffer
	began  time.Time
}

// start writes the input to dir and starts bulkcat.
func start(bulkcat, dir string, command []string, input []byte, url string) (*process, error) {
	if err := os.WriteFile(filepath.Join(dir, inputName), input, 0o666); err != nil {
		return nil, err
	}
	p := &process{cmd: exec.Command(bulkcat, command...), dir: dir, began: time.Now()}
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
