//go:build !linux

package answers

import "github.com/cockroachdb/pebble/v2/vfs"

// machineFS is the machine's file system.
func machineFS() vfs.FS { return vfs.Default }
