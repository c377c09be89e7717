package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"
)

// release and commit are stamped in by the linker: see the Makefile.
var (
	release = "dev"
	commit  = "unknown"
)

func version() string { return release }

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(s.out, "bulkcat %s (commit %s, %s, %s/%s)\n", release, commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
