//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// endGroup makes the end of the context kill the command and all processes that it has started and that have stayed in
// its process group. A shell that is killed alone leaves its commands running.
func endGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
