package main

import (
	"bufio"
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

// awaitExit waits until a child has ended, but leaves it to be waited for: until then
// the system still tells of it.
func awaitExit(pid int) {
	const byPID = 1 // P_PID of waitid(2)
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), 0, syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// callsOf gives how many system calls of the read and the write family a process has
// made; 0 where the system does not tell (proc_pid_io(5)).
func callsOf(pid int) int64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/io", pid))
	if err != nil {
		return 0
	}
	var calls int64
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		name, value, _ := bytes.Cut(lines.Bytes(), []byte(": "))
		if string(name) == "syscr" || string(name) == "syscw" {
			n, _ := strconv.ParseInt(string(value), 10, 64) // 0 if it is none
			calls += n
		}
	}
	return calls
}

// peakOf gives the resident memory of a process at its highest, in bytes. It is at least
// that of its parent, whose memory it shares until it starts its program; so this
// program keeps nothing large.
func peakOf(state *os.ProcessState) int64 {
	usage, ok := state.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0
	}
	return usage.Maxrss << 10
}
