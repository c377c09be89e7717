package process

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Isolated is the environment of a program that must not see the settings of the user: the folder dir is its home.
func Isolated(dir string, variables ...string) []string {
	return append(variables, "PATH="+os.Getenv("PATH"), "HOME="+dir, "TMPDIR="+os.TempDir(), "GORACE="+os.Getenv("GORACE"))
}

// Without is the environment of this process without the variables that have a prefix.
func Without(prefixes ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
}

// Build builds a package of the module in the folder from, and returns the path of the program in dir. The variable,
// unless empty, names a program that exists.
func Build(variable, dir, from, pkg string) (string, error) {
	if path := os.Getenv(variable); path != "" {
		return path, nil
	}
	path := filepath.Join(dir, filepath.Base(pkg))
	cmd := exec.Command("go", "build", "-o", path, pkg)
	cmd.Dir, cmd.Env = from, append(os.Environ(), "CGO_ENABLED=0")
	if output, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building %s: %w\n%s", pkg, err, output)
	}
	return path, nil
}
