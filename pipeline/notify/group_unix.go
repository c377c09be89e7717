//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// endTogether has the end of the context kill the processes that the command has started, too: the shell starts one for
// each program of a list.
func endTogether(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
