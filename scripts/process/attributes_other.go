//go:build !linux

package process

import "syscall"

// Attributes are none: only Linux tells a child that its parent has died.
func Attributes() *syscall.SysProcAttr { return nil }
