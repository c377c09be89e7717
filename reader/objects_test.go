package reader

import (
	"fmt"
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
