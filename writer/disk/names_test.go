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
