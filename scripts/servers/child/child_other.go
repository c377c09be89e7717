//go:build !linux

// Package child has the attributes of child processes.
package child

import "syscall"

// Attributes are none: only Linux tells a child that the test process has died.
func Attributes(syscall.Signal) *syscall.SysProcAttr { return nil }
