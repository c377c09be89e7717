//go:build !unix

package notify

import "os/exec"

// endTogether does nothing: these systems have no groups of processes.
func endTogether(*exec.Cmd) {}
