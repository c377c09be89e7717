package taxonomy

import (
	"strings"
	"testing"
)

func TestCheck(t *testing.T) {
	long := strings.Repeat("ä", maxPhrase+1)
	for _, tt := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "path,id,aliases\nA,1,b\nA > C,2,\n", nil},
		{"duplicate", "path\nA\nB\nA\na > A\nA\n", []string{
			`t.csv:4: "A" is there already, on line 2`, `t.csv:6: "A" is there already, on line 2`, `t.csv:5: the parent "a" has no line`,
		}},
		{"missing parents", "path\nB\nA > X > Y\nA > Z\n", []string{`t.csv:3: the parent "A" has no line`, `t.csv:3: the parent "A > X" has no line`}},
		{"long", "path,aliases\n" + long + ",\nB," + long + "\n", []string{"t.csv:2: the name", "t.csv:3: the alias"}},
		{"just not long", "path\n" + long[2:] + "\n", nil},
		{"ids", "path,id\nA,1\nB,2\nC,1\n", []string{`t.csv:4: the id "1" is also on line 2`}},
		{"unread columns", "path,alias,path\nA,x,B\n", []string{`t.csv:1: the column "alias" is not read`, `t.csv:1: the column "path" is not read`}},
		{"alias is the name", "path,aliases\nSofas,sofas\n", []string{`t.csv:2: the alias "sofas" is the category's own name`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := readCustom("t.csv", tt.text)
			if err != nil {
				t.Fatal(err)
			}
			found := c.Check()
			if len(found) != len(tt.want) {
				t.Fatalf("%d findings, want %d: %v", len(found), len(tt.want), found)
			}
			for i, f := range found {
				if !strings.HasPrefix(f.String(), tt.want[i]) {
					t.Errorf("got  %s\nwant %s", f, tt.want[i])
				}
			}
		})
	}
}
