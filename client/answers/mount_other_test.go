//go:build !linux

package answers

import "errors"

func mountSmall(string, int) error { return errors.ErrUnsupported }
func remount(string, int) error    { return errors.ErrUnsupported }
func unmount(string) error         { return errors.ErrUnsupported }
