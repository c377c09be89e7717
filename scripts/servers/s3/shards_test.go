package s3

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// shard is a run of a shard into the bucket, on a machine of its own.
func (w *world) shard(shard string) *exec.Cmd {
	return w.run(w.t.TempDir(), "product", "s3://bucket/in.csv", "-o", "s3://bucket/out/", "--output-format", "csv",
		"--carry", "all", "--part-rows", "20000", "--shard", shard)
}

// fails runs a command that must end with a status, and with a text in its output.
func (w *world) fails(cmd *exec.Cmd, status int, text string) {
	w.t.Helper()
	output := new(bytes.Buffer)
	cmd.Stdout, cmd.Stderr = output, output
	_ = cmd.Run()
	if cmd.ProcessState.ExitCode() != status || !strings.Contains(output.String(), text) {
		w.t.Errorf("%v ended with %v, want status %d and %q:\n%s", cmd.Args, cmd.ProcessState, status, text, output)
	}
}

// Four machines write a shard each. Three start at the same time. The fourth is killed, and two machines go on: one of
// them holds a part while the other publishes all parts, as if Slurm took it for lost.
func TestShards(t *testing.T) {
	t.Parallel()
	w, state := start(t), t.TempDir()
	var started []*exec.Cmd
	for _, shard := range []string{"1/4", "3/4", "4/4"} {
		cmd := w.shard(shard)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		started = append(started, cmd)
	}
	for _, cmd := range started {
		if err := cmd.Wait(); err != nil {
			t.Fatalf("%v: %v\n%s", cmd.Args, err, cmd.Stderr)
		}
	}
	w.fails(w.run(state, "finish", "s3://bucket/out/"), 1, "shard=02-of-4: shard: expected a complete run, got none")
	w.kill(w.shard("2/4"), "shard=02-of-4/part-00003.csv")
	w.fails(w.run(state, "finish", "s3://bucket/out/"), 1, "shard=02-of-4: shard: expected a complete run, got none")
	w.fails(w.shard("2/5"), 2, "the records in s3://bucket/out are split into 4 shards")
	late, again := w.shard("2/4"), w.shard("2/4")
	part := w.start(late, "shard=02-of-4/part-00003.csv?x-id=PutObject")
	w.must(again)
	part.release()
	if err := late.Wait(); err == nil || !strings.Contains(fmt.Sprint(late.Stderr), "the object has changed meanwhile") {
		t.Errorf("the late shard ended with %v\n%s", err, late.Stderr)
	}
	if !strings.Contains(fmt.Sprint(again.Stderr), "records in parts") {
		t.Errorf("the parts of the killed shard are not kept:\n%s", again.Stderr)
	}

	local := filepath.Join(t.TempDir(), "all.csv")
	w.fails(w.run(state, "verify", "s3://bucket/out/"), 1, "_SUCCESS: file: expected one, got none")
	w.must(w.run(state, "finish", "s3://bucket/out/", "-o", "s3://bucket/all.csv"))
	w.must(w.run(state, "finish", "s3://bucket/out/", "-o", local))
	w.must(w.run(state, "verify", "s3://bucket/out/", "s3://bucket/in.csv"))
	w.must(w.run(state, "verify", "s3://bucket/all.csv", "s3://bucket/in.csv"))
	for _, path := range []string{filepath.Join(w.bucket, "all.csv"), local} {
		if got, err := os.ReadFile(path); err != nil || !bytes.Equal(got, w.want) {
			t.Errorf("%s has %d bytes, another than the %d of a run without shards; %v", path, len(got), len(w.want), err)
		}
	}
	if _, err := os.Stat(filepath.Join(w.bucket, "out", "_SUCCESS")); err != nil || w.uploads() > 0 {
		t.Errorf("%v; %d uploads are left", err, w.uploads())
	}
}
