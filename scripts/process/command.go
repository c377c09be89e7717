package process

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
)

// Bulkcat returns a command of bulkcat that does not see the settings of the user. It runs in the folder dir, which is also its
// home. url is the base URL of the service; "" for the embedded service.
func Bulkcat(program, dir, url, key string, args ...string) *exec.Cmd {
	cmd := exec.Command(program, args...)
	cmd.Dir = dir
	cmd.Env = []string{
		"BULKCAT_BASE_URL=" + url, "BULKCAT_API_KEY=" + key,
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "TMPDIR=" + os.TempDir(), "GORACE=" + os.Getenv("GORACE"),
	}
	return cmd
}

// Main is the main function of a program. The context of run ends when the program is interrupted.
func Main(run func(ctx context.Context) error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", filepath.Base(os.Args[0]), err)
		os.Exit(1)
	}
}

// Without returns the environment of this process without the variables that begin with one of the prefixes.
func Without(prefixes ...string) []string {
	return slices.DeleteFunc(os.Environ(), func(variable string) bool {
		return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(variable, prefix) })
	})
}

// Build builds a package of the module in the folder from, and returns the path of the program in dir. If the environment
// variable is set, Build returns its value, the path of an existing program, instead.
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
