package runfiles

import (
	"path/filepath"
	"testing"
)

// TestSeenFrom gives files names that depend on neither the working folder nor that of the output.
func TestSeenFrom(t *testing.T) {
	root := t.TempDir()
	t.Chdir(root)
	for _, tt := range []struct{ output, path, want string }{
		{"out.csv", "in.csv", "in.csv"},
		{"./out.csv", filepath.Join(root, "in.csv"), "in.csv"},
		{filepath.Join(root, "data", "out"), "in.csv", "../in.csv"},
		{"data/out/", "data/../in-*.csv", "../in-*.csv"},
		{"data/out/", "-", "-"},
		{"-", "in.csv", "in.csv"},
	} {
		if got := SeenFrom(tt.output, tt.path); got != tt.want {
			t.Errorf("from %s, %s is %s, want %s", tt.output, tt.path, got, tt.want)
		}
	}
}
