package clienttest

import (
	"fmt"
	"os"
	"testing"
)

// Main runs the tests of a package with a temporary state folder of the user, and exits.
func Main(m *testing.M) {
	dir, err := os.MkdirTemp("", "state-*")
	if err == nil {
		err = os.Setenv("XDG_STATE_HOME", dir)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	status := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(status)
}
