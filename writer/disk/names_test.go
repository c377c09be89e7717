package disk

import (
	"path/filepath"
	"testing"
)

func TestParseTemp(t *testing.T) {
	for _, path := range []string{"out.csv", "a/b.tmp-1-0123456789abcdef", ".hidden", "x"} {
		name, ok := ParseTemp(filepath.Base(TempName(path)))
		if name != filepath.Base(path) || !ok {
			t.Errorf("%s: got %q, %v", path, name, ok)
		}
	}
}

// A local path may have "://" below a folder, as the copy of a website has.
func TestIsURL(t *testing.T) {
	for path, want := range map[string]bool{"s3://bucket/a": true, "a.csv": false, "./a://b": false, "mirror/https://example.com": false, "://a": false} {
		if got := IsURL(path); got != want {
			t.Errorf("%s: got %v", path, got)
		}
	}
}
