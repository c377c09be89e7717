//go:build !unix

package notify

import "os/exec"

// killGroup does nothing: canceling the context kills the shell only.
func killGroup(*exec.Cmd) {}
