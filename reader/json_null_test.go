package reader

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"golang.org/x/text/transform"
)

// Non-numbers are replaced wherever the buffers of a reader end, and not in strings.
func TestNonNumbersAtAnyPlace(t *testing.T) {
	const text, want = `[NaN,-Infinity,Infinity,-1,"NaN\\",NaN,"\"-Infinity",N`, `[null,null,null,-1,"NaN\\",null,"\"-Infinity",N`
	if got := string(withNulls([]byte(text))); got != want {
		t.Errorf("got %s", got)
	}
	for before := 4096 - 2*len(text); before < 4096+len(text); before++ {
		pad := strings.Repeat(" ", before)
		for name, src := range map[string]io.Reader{
			"at once": strings.NewReader(pad + text), "by the byte": iotest.OneByteReader(strings.NewReader(pad + text)),
		} {
			got, err := io.ReadAll(transform.NewReader(src, new(nullTransformer)))
			if err != nil || string(got) != pad+want {
				t.Fatalf("%s, after %d bytes: got %q, %v", name, before, strings.TrimSpace(string(got)), err)
			}
		}
	}
}
