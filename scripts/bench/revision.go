package main

import (
	"context"
	"errors"
	"path/filepath"
)

// buildRevision builds the bulkcat of a revision in a temporary work tree, and returns the
// program's path.
func (r *rig) buildRevision(ctx context.Context, revision string) (program string, err error) {
	tree := filepath.Join(r.dir, "base")
	add := command{args: []string{"git", "worktree", "add", "--detach", tree, revision}}
	if _, err := add.run(ctx); err != nil {
		return "", err
	}
	defer func() {
		remove := command{args: []string{"git", "worktree", "remove", "--force", tree}}
		_, removeErr := remove.run(context.WithoutCancel(ctx)) // otherwise git keeps listing the work tree
		err = errors.Join(err, removeErr)
	}()
	program = filepath.Join(r.dir, "bulkcat-base")
	build := command{
		dir: tree, env: []string{"CGO_ENABLED=0"}, // as `make build` does
		args: []string{"go", "build", "-trimpath", "-ldflags", "-s -w", "-o", program, "./cmd/bulkcat"},
	}
	_, err = build.run(ctx)
	return program, err
}
