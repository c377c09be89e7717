package reader

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

func TestObjects(t *testing.T) {
	for _, tt := range []struct{ array, want string }{
		{"[]", ""},
		{`[{"a":1,"b":"x\"]}"},{"a":null,"c":{"d":[ 1 ]}}]`, `a=1 b=x"]} / a= c={"d":[1]} / `},
		{` [ { } , {"a":true} ]`, "no array"},
		{`[ { } , {"a":true} ]`, "/ a=true / "},
		{"", "no array"},
		{"[", "no array"},
		{`{"a":1}`, "no array"},
		{`"[]"`, "no array"},
		{"[1]", "no array"},
		{"[null]", "no array"},
		{`[{"a":1},[]]`, "no array"},
	} {
		got := ""
		list, err := Objects(tt.array)
		for _, object := range list {
			for key, value := range object {
				got += key + "=" + value + " "
			}
			got += "/ "
		}
		if err != nil {
			got = "no array"
		}
		if want := tt.want; fmt.Sprint(got) != want {
			t.Errorf("%s: got %q, want %q", tt.array, got, want)
		}
	}
}

// TestMaxRecord reads records that are longer than those of an input may be, and says how long others are.
func TestMaxRecord(t *testing.T) {
	for name, tt := range map[string]struct {
		format, before, after string
	}{
		"a row":      {"csv", "domain,n\n", ",1\nb.com,2\n"},
		"quotes":     {"csv", "domain,n\n\"", "\",1\nb.com,2\n"},
		"a string":   {"jsonl", `{"domain":"`, `"}` + "\n" + `{"domain":"b.com"}`},
		"first line": {"txt", "", "\nb.com\n"},
	} {
		for size, want := range map[int]string{1<<20 + 9: "", 2<<20 + 9: "longer than 2 MiB"} {
			path := t.TempDir() + "/in"
			long := strings.Repeat("x", size)
			if err := os.WriteFile(path, []byte(tt.before+long+tt.after), 0o666); err != nil {
				t.Fatal(err)
			}
			r, err := Open(t.Context(), Options{Paths: []string{path}, Format: tt.format, Columns: []string{"domain"}, MaxRecord: 2 << 20, Dialect: Dialect{Strict: true}})
			if err != nil {
				t.Fatal(name, err)
			}
			first, err := r.Read()
			switch {
			case err != nil || (first.Err == nil) != (want == "") || first.Err != nil && !strings.Contains(first.Err.Error(), want):
				t.Errorf("%s of %d bytes: %v, %v", name, size, first.Err, err)
			case want == "" && first.Input != long:
				t.Errorf("%s: the input has %d bytes", name, len(first.Input))
			}
			if second, err := r.Read(); err != nil || second.Input != "b.com" {
				t.Errorf("%s of %d bytes: then %+v, %v", name, size, second, err)
			}
			r.Close()
		}
	}
}
