//go:build unix

package notify

import (
	"os/exec"
	"syscall"
)

// killGroup makes canceling the context kill the process group of the command. Killing only the shell would leave its child
// processes running.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
