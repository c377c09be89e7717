package loop

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/bulkcat/bulkcat/scripts/process"
)

// Format is the shape of the output.
type Format string

// The formats.
const (
	CSV     Format = "csv"
	JSONL   Format = "jsonl"
	Parquet Format = "parquet"
	Folder  Format = "folder" // of CSV parts
	Shards  Format = "shards" // a folder of shards, each with a run of its own, and a file into which finish merges them
	Free    Format = "free"   // of CSV parts, with some rows that a model answers for free
)

const (
	inputName = "catalog.csv"
	partRows  = 50 // rows of a part: several parts in a cycle
	folder    = "out"
	storeName = "answers.db" // of all commands of a cycle, except for shards
	shards    = 3
)

// commands returns the command lines of a cycle.
func commands(format Format) [][]string {
	run := func(more ...string) []string {
		if format != Shards {
			more = append(more, "--store", storeName)
		}
		return append([]string{"product", inputName, "--rate", "0", "--workers", strconv.Itoa(Workers), "--quiet"}, more...)
	}
	parts := []string{"-o", folder + "/", "--output-format", string(CSV), "--part-rows", strconv.Itoa(partRows)}
	switch format {
	case Folder:
		return [][]string{run(parts...)}
	case Free:
		return [][]string{run(append(parts, "--free", filepath.Join("..", modelName), "--precision", "80%")...)}
	case Shards:
		var all [][]string
		for n := range shards {
			all = append(all, run(append(parts, "--shard", fmt.Sprintf("%d/%d", n+1, shards))...))
		}
		return append(all, []string{"finish", folder + "/", "-o", "out.csv", "--overwrite"}) // a killed finish may have published
	}
	return [][]string{run("-o", "out."+string(format))}
}

// logOf returns the path of the file with the output of the starts of a cycle.
func logOf(dir string) string { return dir + ".log" }

// remove removes all files of a cycle.
func remove(dir string) error {
	return errors.Join(os.RemoveAll(dir), os.Remove(logOf(dir)))
}

// ending is the end of a start.
type ending struct {
	killed   bool // by the loop
	status   int
	duration time.Duration
}

// start writes the input to dir, starts bulkcat, and kills it at the moment unless it has ended before. It returns an
// error if bulkcat was not killed and its exit status is neither 0 nor 3.
func start(ctx context.Context, bulkcat, dir string, command []string, input []byte, url string, kill moment) (ending, error) {
	if err := os.WriteFile(filepath.Join(dir, inputName), input, 0o666); err != nil {
		return ending{}, err
	}
	p, err := process.Start(ctx, process.Bulkcat(bulkcat, dir, url, "key-of-the-crash-loop", command...), logOf(dir))
	if err != nil {
		return ending{}, err
	}
	running, over := context.WithTimeout(ctx, hung)
	defer over()
	go func() {
		<-p.Ended()
		over()
	}()
	kill(running, dir)
	p.Kill()
	e := ending{duration: p.Took(), status: p.Status(), killed: p.Killed()}
	switch {
	case ctx.Err() != nil:
		return e, ctx.Err()
	case running.Err() == context.DeadlineExceeded:
		return e, fmt.Errorf("the process has not ended after %v", hung)
	case e.killed:
		return e, nil
	}
	return e, p.Complete(3)
}
