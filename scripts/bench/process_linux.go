package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// awaitExit waits until a child has ended and does not reap it, so that /proc still has its
// counts.
func awaitExit(pid int) {
	const byPID = 1 // P_PID of waitid(2)
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// callsOf returns the number of read and write system calls of a process; 0 if the system does
// not count them (proc_pid_io(5)).
func callsOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	var calls int64
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		if string(name) == "syscr" || string(name) == "syscw" {
			n, _ := strconv.ParseInt(string(value), 10, 64) // 0 if malformed
			calls += n
		}
	}
	return calls
}

// peakOf returns the peak resident memory of a process in bytes. It includes the memory of the
// parent, which the child shares until exec, so this program must stay small.
func peakOf(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
