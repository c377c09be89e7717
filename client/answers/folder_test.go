package answers_test

import (
	"bytes"
	"maps"
	"strings"
	"testing"

	. "github.com/bulkcat/bulkcat/client/answers"
)

// TestOtherLogsAreNotTaken opens folders whose files are named like those of a store, such as logs of a day: nothing is
// written to them.
func TestOtherLogsAreNotTaken(t *testing.T) {
	t.Parallel()
	header := "bulkcat answers, format 5\n"
	for name, files := range map[string]map[string]string{
		"logs of days": {"20240131.log": strings.Repeat("a request\n", 100), "20240201.log": strings.Repeat("another\n", 100)},
		"short":        {"00000001.log": "started\n"},
		"empty":        {"20240131.log": ""},
		"an owner":     {"OWNER": "the team\n"},
		"both":         {"20240131.log": strings.Repeat("a request\n", 100), "OWNER": "the team\n"},
		"half a title": {"00000002.log": header[:10]},
		"an index":     {"index/page.html": "<p>"},
	} {
		t.Run(name, func(t *testing.T) {
			before := make(map[string][]byte)
			for file, text := range files {
				before[dir+"/"+file] = []byte(text)
			}
			for _, o := range []Options{{}, {MustExist: true}, {ReadOnly: true}} {
				disk := lay(t, before)
				o.Dir, o.Source, o.FS = dir, source, disk
				s, err := Open(o)
				if err == nil {
					err = s.Close()
					t.Errorf("%+v: the folder is a store", o)
				}
				after := without(contents(t, disk), func(name string) bool { return strings.HasSuffix(name, "LOCK") })
				if !maps.EqualFunc(after, before, bytes.Equal) {
					t.Errorf("%+v, %v: the files have changed: %q", o, err, after)
				}
			}
		})
	}
}
