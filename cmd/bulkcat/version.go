package main

import (
	"cmp"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// release and commit are set by the linker: see the Makefile.
var release, commit string

// build is the version of the program.
type build struct{ release, commit string }

func version() string { return thisBuild().release }

// thisBuild returns the values of the linker, or else the values of the Go toolchain: `go install` records the version of the
// module, and a build in a clone records the revision.
func thisBuild() build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = new(debug.BuildInfo)
	}
	return build{release, commit}.completed(info)
}

func (b build) completed(info *debug.BuildInfo) build {
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			b.commit = cmp.Or(b.commit, s.Value[:min(len(s.Value), 12)])
		}
	}
	if info.Main.Version != "(devel)" {
		b.release = cmp.Or(b.release, info.Main.Version)
	}
	return build{cmp.Or(b.release, "dev"), cmp.Or(b.commit, "unknown")}
}

func (b build) String() string {
	return fmt.Sprintf("bulkcat %s (commit %s, %s, %s/%s)", b.release, b.commit, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

func newVersion(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  operands(0, 0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.out, thisBuild())
			return err
		},
	}
}
