package loop

import (
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var whole = tree{
	"catalog.csv": []byte("id\n1\n"), "out.run.json": nil, "out/_manifest.json": nil,
	"out/part-00001.csv": []byte("one"), "out/part-00002.csv": []byte("two"), "out/_SUCCESS": []byte(""),
}

func TestTrees(t *testing.T) {
	tests := []struct {
		name   string
		change func(tree)
		within string // what the error of a killed run has; "" for none
		same   string // and that of a complete one
	}{
		{"whole", func(tree) {}, "", ""},
		{"a file is cut short", func(t tree) { t["out/part-00001.csv"] = []byte("on") }, "part-00001.csv is not whole", "part-00001.csv is not whole"},
		{"a byte is different", func(t tree) { t["out/part-00002.csv"] = []byte("twe") }, "different from byte 2 on", "different from byte 2 on"},
		{"a draft", func(t tree) { t["out/.part-00002.csv.tmp-1-0"] = []byte("t") }, "", "was left behind"},
		{"a part too many", func(t tree) { t["out/part-00003.csv"] = nil }, "does not belong", "does not belong"},
		{"no account", func(t tree) { delete(t, "out.run.json") }, "", "out.run.json is missing"},
		{"parts are to come", func(t tree) { delete(t, "out/part-00002.csv"); delete(t, "out/_SUCCESS") }, "", "part-00002.csv is missing"},
		{"success of another shard", func(t tree) {
			delete(t, "out/part-00002.csv")
			delete(t, "out/_SUCCESS")
			t["out/shard=01-of-3/_SUCCESS"] = []byte("")
		}, "does not belong", "does not belong"},
		{"success too early", func(t tree) { delete(t, "out/part-00002.csv") }, "part-00002.csv is missing", "part-00002.csv is missing"},
		{"nothing yet", func(t tree) { clear(t) }, "", "catalog.csv is missing"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := maps.Clone(whole)
			tt.change(got)
			checkError(t, "within", got.within(whole), tt.within)
			checkError(t, "same", got.same(whole), tt.same)
		})
	}
}

func checkError(t *testing.T, what string, err error, want string) {
	t.Helper()
	if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
		t.Errorf("%s: got %v, want %q", what, err, want)
	}
}

func TestReadTree(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"out.csv": "a", "out.csv.run.json": "{}", "answers.db-wal": "b", "out/_manifest.json": "{}", "out/part-00001.csv": "c",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readTree(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := tree{"out.csv": []byte("a"), "out.csv.run.json": nil, "out/_manifest.json": nil, "out/part-00001.csv": []byte("c")}
	if !maps.EqualFunc(got, want, func(a, b []byte) bool { return string(a) == string(b) }) {
		t.Errorf("got %q, want %q", got, want)
	}
}
