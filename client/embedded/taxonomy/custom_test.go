package taxonomy

import (
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"
)

const customName = "product_taxonomy_custom_test"

func readCustom(file, text string) (*Custom, error) {
	return ReadCustom(customName, file, strings.NewReader(text))
}

// summary is a line per category: depth, path, id, line and aliases.
func summary(c *Custom) string {
	var b strings.Builder
	for i, category := range c.Categories {
		fmt.Fprintf(&b, "%d %s #%s :%d %s\n", category.Depth, category.Path, category.ID, c.Lines[i], strings.Join(category.Aliases, "|"))
	}
	return b.String()
}

func TestReadCustom(t *testing.T) {
	for _, tt := range []struct{ name, file, text, want string }{
		{"text", "a.txt", "# ours\n\nSeating\nSeating > Sofas\n", "0 Seating # :3 \n1 Seating > Sofas # :4 \n"},
		{"CSV", "a.csv", "path,id,aliases\nSeating,1,\nSeating > Sofas,2,couch|settee; divan\n", "0 Seating #1 :2 \n1 Seating > Sofas #2 :3 couch|settee|divan\n"},
		{"columns in another order", "a.csv", "ID;Name;Path\n7;x;A\n", "0 A #7 :2 \n"},
		{"tabs, whatever the name", "a", "path\tid\nA > B, C\t1\n", "0 A # :0 \n1 A > B, C #1 :2 \n"},
		{"quotes", "a.csv", "\"path\",id\n\"A, B > \"\"C\"\"\",1\n", "0 A, B # :0 \n1 A, B > \"C\" #1 :2 \n"},
		{"short rows", "a.csv", "path,id,aliases\nA\nB,2\n", "0 A # :2 \n0 B #2 :3 \n"},
		{"byte order mark, Windows lines, blanks", "a.csv", "\ufeff\r\npath,id\r\n\r\nA,1\r\n,\r\n", "0 A #1 :4 \n"},
		{"children come together", "a.txt", "A > X\nB\nA > Y\n", "0 A # :0 \n1 A > X # :1 \n1 A > Y # :3 \n0 B # :2 \n"},
		{"a parent after its child", "a.txt", "A > X\nA\n", "0 A # :2 \n1 A > X # :1 \n"},
		{"spaces", "a.txt", "  A  b>C > D ", "0 A b # :0 \n1 A b > C # :0 \n2 A b > C > D # :1 \n"},
		{"twice is once", "a.csv", "path,id,aliases\nA,1,x\nA,2,x|y\n", "0 A #1 :2 x|y\n"},
		{"an outline with tabs", "a.txt", "Tools\n\tDrills\n\t\tHammer / SDS\n\tSaws\nToys\n", "0 Tools # :1 \n1 Tools > Drills # :2 \n2 Tools > Drills > Hammer / SDS # :3 \n1 Tools > Saws # :4 \n0 Toys # :5 \n"},
		{"an outline with spaces, a comment and blanks", "a.txt", "# ours\r\n  Tools\r\n     Drills\r\n\r\n     Saws\r\n  Toys\r\n", "0 Tools # :2 \n1 Tools > Drills # :3 \n1 Tools > Saws # :5 \n0 Toys # :6 \n"},
		{"an outline with bullets", "a.md", "- Tools\n  - Drills\n- Toys\n", "0 Tools # :1 \n1 Tools > Drills # :2 \n0 Toys # :3 \n"},
		{"an outline with ids", "a.txt", "1 - Tools\n  2 - Drills\n", "0 Tools #1 :1 \n1 Tools > Drills #2 :2 \n"},
		{"an outline of unequal depths", "a.txt", "A\n  B\n      C\n  D\n", "0 A # :1 \n1 A > B # :2 \n2 A > B > C # :3 \n1 A > D # :4 \n"},
		{"Google's taxonomy with ids", "taxonomy-with-ids.en-US.txt", "# Google_Product_Taxonomy_Version: 2021-09-21\n1 - Animals & Pet Supplies\n3237 - Animals & Pet Supplies > Live Animals\n", "0 Animals & Pet Supplies #1 :2 \n1 Animals & Pet Supplies > Live Animals #3237 :3 \n"},
		{"numbers in few names", "a.txt", "Baby\n  0 - 12 months\n  toys\n  food\n", "0 Baby # :1 \n1 Baby > 0 - 12 months # :2 \n1 Baby > toys # :3 \n1 Baby > food # :4 \n"},
		{"a hash in CSV", "a.csv", "path\n#1 Hits\n", "0 #1 Hits # :2 \n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			c, err := readCustom(tt.file, tt.text)
			if err != nil {
				t.Fatal(err)
			}
			if got := summary(c); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
			if c.Name != customName || c.File != tt.file {
				t.Errorf("name %q, file %q", c.Name, c.File)
			}
			checkForest(t, c)
		})
	}
}

// checkForest compares every category with its parent.
func checkForest(t *testing.T, c *Custom) {
	t.Helper()
	if len(c.Lines) != len(c.Categories) || len(c.Categories) == 0 {
		t.Fatalf("%d categories, %d lines", len(c.Categories), len(c.Lines))
	}
	for i := range c.Categories {
		checkCategory(t, c.Categories, i)
	}
}

func TestReadCustomErrors(t *testing.T) {
	deep := strings.Repeat("A > ", maxCustomLevels) + "A"
	for _, tt := range []struct{ name, file, text, want string }{
		{"nothing", "a.txt", "", "a.txt:1: there is no category"},
		{"only a header", "a.csv", "path,id\n", "a.csv:1: there is no category"},
		{"UTF-16", "a.csv", "\xff\xfep\x00a\x00t\x00h\x00\n\x00A\x00", "a.csv:1: an Excel file or UTF-16: save the file as CSV in UTF-8"},
		{"Excel", "a.xlsx", "PK\x03\x04\x14\n\xff\n\xfe\n", "a.xlsx:1: an Excel file or UTF-16: save the file as CSV in UTF-8"},
		{"no header", "a.csv", "A > B,1\n", "a.csv:1: the header names no categories"},
		{"an outline whose level ends between two", "a.txt", "A\n    B\n  C\n", `a.txt:3: "C" is indented as no line above`},
		{"an outline that begins too deep", "a.txt", "  A\nB\n  C\n", `a.txt:2: "B" is indented as no line above`},
		{"an outline with tabs and spaces", "a.txt", "A\n\tB\n        C\n", `a.txt:3: "C" is indented as no line above`},
		{"an outline of paths", "a.txt", "A\n  A > B\n", `a.txt:2: the name "A > B" holds a >`},
		{"a line without an id", "a.txt", "4 - A\n5 - A > B\nA > C\n", `a.txt:3: "A > C" has no id, and 2 other lines begin with one`},
		{"an id twice", "a.txt", "4 - A\n4 - A > B\n", `a.txt:2: the id "4" is also on line 1`},
		{"empty level", "a.txt", "A\nA > > B\n", `a.txt:2: level 2 of path "A > > B" is empty`},
		{"no path", "a.csv", "path,id\nA,1\n,2\n", "a.csv:3: there is no path"},
		{"comma without quotes", "a.csv", "path,id\nFood, Drinks > Tea,1\n", "a.csv:2: there are 3 fields under a header of 2"},
		{"comma in the place of the id", "a.csv", "path,id\nFood, Drinks > Tea\n", `a.csv:2: id "Drinks > Tea" holds a >`},
		{"broken quotes", "a.csv", "path\n\"A\" B\nC\n", "a.csv:2: the quotes are broken"},
		{"endless quotes", "a.csv", "path\nA\n\"B\nC\n", "a.csv:3: the quotes are broken"},
		{"not UTF-8", "a.txt", "A\n\xff\n", "a.txt:2: not UTF-8"},
		{"control character", "a.txt", "A\x00B\n", `a.txt:1: path "A\x00B" holds a tab`},
		{"line feed in an alias", "a.csv", "path,aliases\nA,\"b\nc\"\n", "a.csv:2: aliases \"b\\nc\" holds a tab, line feed"},
		{"too deep", "a.txt", deep, "a.txt:1: path of 13 levels"},
		{"endless line", "a.txt", strings.Repeat("A", maxLine+1), "a.txt:1: path of 8193 bytes"},
		{"endless header", "a.csv", strings.Repeat("path,", maxLine), "a.csv:1: the header names no categories"},
		{"too large", "a.txt", strings.Repeat("A\n", maxCustomFile/2+1), "a.txt:1: the file is over 16 MiB"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := readCustom(tt.file, tt.text)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error %v, want one that begins with %q", err, tt.want)
			}
			var problem *SyntaxError
			if !errors.As(err, &problem) || problem.File != tt.file || problem.Line < 1 {
				t.Errorf("no line in %v", err)
			}
		})
	}
}

// The error has all malformed lines, up to a limit.
func TestReadCustomTellsAllLines(t *testing.T) {
	_, err := readCustom("a.txt", "A\n>\nB\n>\n")
	if err == nil || strings.Count(err.Error(), "\n") != 1 || !strings.Contains(err.Error(), "a.txt:4: ") {
		t.Errorf("error %v, want lines 2 and 4", err)
	}
	_, err = readCustom("a.txt", strings.Repeat(">\n", 100))
	if err == nil || !strings.HasSuffix(err.Error(), "\nand 80 more lines") {
		t.Errorf("error %v, want 20 lines and 80 more", err)
	}
}

func TestReadCustomRefusesTooMany(t *testing.T) {
	var b strings.Builder
	for i := range maxCustomCategories + 2 {
		fmt.Fprintln(&b, i)
	}
	if _, err := readCustom("a.txt", b.String()); err == nil || !strings.Contains(err.Error(), "a.txt:100001: there are over 100000 categories") {
		t.Errorf("error %v", err)
	}
}

func TestReadCustomBreaksOff(t *testing.T) {
	broken := errors.New("cable pulled")
	_, err := ReadCustom(customName, "a.txt", io.MultiReader(strings.NewReader("A\n"), iotest.ErrReader(broken)))
	if !errors.Is(err, broken) || !strings.Contains(err.Error(), "a.txt") {
		t.Errorf("error %v", err)
	}
}

// The fingerprint changes only with the properties that rows depend on.
func TestFingerprint(t *testing.T) {
	const text = "path,id,aliases\nA,1,x|y\nB,2,\n"
	fingerprint := func(file, text string) string {
		c, err := readCustom(file, text)
		if err != nil {
			t.Fatal(err)
		}
		return c.Fingerprint()
	}
	want := fingerprint("a.csv", text)
	if len(want) != 16 {
		t.Errorf("fingerprint %q", want)
	}
	for name, same := range map[string]string{
		"blanks":     "path,id,aliases\n\nA,1, x |y\n\nB,2,\n",
		"separators": "path;aliases;id\nA;x|y;1\nB;;2\n",
	} {
		if got := fingerprint("b.csv", same); got != want {
			t.Errorf("other %s give another fingerprint", name)
		}
	}
	for name, other := range map[string]string{
		"a name":        "path,id,aliases\nA,1,x|y\nC,2,\n",
		"an id":         "path,id,aliases\nA,1,x|y\nB,3,\n",
		"an alias":      "path,id,aliases\nA,1,x|z\nB,2,\n",
		"two aliases":   "path,aliases\nA,xy\nB,\n",
		"another owner": "path,id,aliases\nA,1,x\nB,2,y\n",
		"the order":     "path,id,aliases\nB,2,\nA,1,x|y\n",
	} {
		if got := fingerprint("a.csv", other); got == want {
			t.Errorf("%s does not change the fingerprint", name)
		}
	}
}

// Every file gives a valid taxonomy or an error, and writing and reading the taxonomy gives the
// same taxonomy.
func FuzzReadCustom(f *testing.F) {
	f.Add("a.txt", "A > B\n# c\nA>C\n")
	f.Add("a.csv", "path,id,aliases\nA > B,1,c|d\n\"A, B\",2,\n")
	f.Add("a.tsv", "id\tpath\n1\tA > B > C\n2\tA\n")
	f.Add("a.csv", "path;aliases\nA > B;c|d\n\"")
	f.Add("", "path\n\xff\n> >\n\x00")
	f.Add("a.csv", "id,parent_id,name\n1,,A\n2,1,B\n")
	f.Add("a.csv", "level_1;level_2\nA;\nA;B\n")
	f.Add("a.json", `[{"name":"A","children":[{"name":"B","id":1,"links":["187"]},"C"]}]`)
	f.Add("a.json", `{"A":{"B":["C"],"D":null}}`)
	f.Add("a.json", `[{"id":1,"name":"A"},{"id":2,"parent_id":1,"name":"B"}]`)
	f.Fuzz(func(t *testing.T, file, text string) {
		c, err := ReadCustom(customName, file, strings.NewReader(text))
		if err != nil {
			var problem *SyntaxError
			if !errors.As(err, &problem) || problem.Line < 1 {
				t.Fatalf("error %v has no line", err)
			}
			return
		}
		checkForest(t, c)
		for _, found := range c.Check() {
			if found.Line < 1 || found.Line > strings.Count(text, "\n")+1 {
				t.Errorf("%v is not in the file", found)
			}
		}
		if c.Levels() == 1 {
			return // a single level is read as paths if its names have a separator
		}
		var b strings.Builder
		b.WriteString("path,id,aliases,links\n")
		for _, category := range c.Categories {
			fmt.Fprintf(&b, "%s,%s,%s,%s\n", quoted(category.Path), quoted(category.ID), quoted(strings.Join(category.Aliases, "|")), quoted(strings.Join(category.Links, "|")))
		}
		again, err := readCustom("again.csv", b.String())
		if err != nil {
			t.Fatalf("%v, of\n%s", err, b.String())
		}
		if !reflect.DeepEqual(again.Categories, c.Categories) || again.Fingerprint() != c.Fingerprint() {
			t.Errorf("got  %+v\nwant %+v", again.Categories, c.Categories)
		}
	})
}

func quoted(field string) string { return `"` + strings.ReplaceAll(field, `"`, `""`) + `"` }

func TestReadCustomForms(t *testing.T) {
	const want = "0 Seating # \n1 Seating > Sofas #S1 couch\n2 Seating > Sofas > Sofa beds #S3 \n1 Seating > Wing chairs # \n"
	for _, c := range []struct{ name, file, form, text string }{
		{"paths", "a.txt", "paths with >", "Seating\nSeating > Sofas\nSeating>Sofas>Sofa beds\nSeating > Wing chairs\n"},
		{"slashes", "a.txt", "paths with /", "Seating\nSeating/Sofas\nSeating/Sofas/Sofa beds\nSeating/Wing chairs\n"},
		{"folders", "a.txt", "paths with /", "/Seating/\n/Seating/Sofas/\n/Seating/Sofas/Sofa beds/\n/Seating/Wing chairs/\n"},
		{"slashes in names", "a.txt", "paths with >", "Seating\nSeating > Sofas\nSeating > Sofas > Sofa beds\nSeating > Wing chairs\n"},
		{"bars", "a.txt", "paths with |", "Seating\nSeating | Sofas\nSeating|Sofas|Sofa beds\nSeating|Wing chairs\n"},
		{"colons", "a.txt", "paths with ::", "Seating\nSeating::Sofas\nSeating :: Sofas :: Sofa beds\nSeating::Wing chairs\n"},
		{"CSV with bars in paths", "a.csv", "paths with |", "id;aliases;path\n;;Seating\nS1;couch;Seating|Sofas\nS3;;Seating|Sofas|Sofa beds\n;;Seating|Wing chairs\n"},
		{"parents", "a.csv", "names with the ids of their parents", "id,parent_id,name,aliases\nS3,S1,Sofa beds,\nS0,,Seating,\nS1,S0,Sofas,couch\nS4,S0,Wing chairs,\n"},
		{"parents of Excel", "a.csv", "names with the ids of their parents", "Category_ID;Parent;Label\r\nS0;0;Seating\r\nS1;S0;Sofas\r\nS3;S1;Sofa beds\r\nS4;S0;Wing chairs\r\n"},
		{"levels", "a.csv", "a column for each level", "level_1,level_2,level_3,id,aliases\nSeating,,,,\nSeating,Sofas,,S1,couch\nSeating,Sofas,Sofa beds,S3,\nSeating,Wing chairs,,,\n"},
		{"levels in another order", "a.tsv", "a column for each level", "Level 2\tLevel 1\tLevel 3\n\tSeating\t\nSofas\tSeating\t\nSofas\tSeating\tSofa beds\nWing chairs\tSeating\t\n"},
		{"tree", "a.json", "a tree in JSON", `[{"name":"Seating","children":[{"id":"S1","name":"Sofas","aliases":["couch"],"children":[{"name":"Sofa beds","id":"S3"}]},{"name":"Wing chairs"}]}]`},
		{"tree with a root", "a.json", "a tree in JSON", `{"categories":[{"title":"Seating","subcategories":[{"code":"S1","title":"Sofas","items":["Sofa beds"]},"Wing chairs"]}]}`},
		{"keys", "a.json", "a tree in JSON", `{"Seating":{"Sofas":["Sofa beds"],"Wing chairs":null}}`},
		{"list", "a.json", "names with the ids of their parents in JSON", `[{"id":0,"name":"Seating","parent_id":null},{"id":"S1","name":"Sofas","parent_id":0},{"id":"S3","name":"Sofa beds","parent_id":"S1"},{"id":4,"name":"Wing chairs","parent_id":0}]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := readCustom(c.file, c.text)
			if err != nil {
				t.Fatal(err)
			}
			if got.Form != c.form {
				t.Errorf("read as %q, want %q", got.Form, c.form)
			}
			for i := range got.Categories {
				if g, w := got.Categories[i].Path, []string{"Seating", "Seating > Sofas", "Seating > Sofas > Sofa beds", "Seating > Wing chairs"}; len(got.Categories) != len(w) || g != w[i] {
					t.Fatalf("%s, want %s", summary(got), want)
				}
			}
			if id := got.Categories[1].ID; id != "S1" && strings.Contains(c.text, "S1") {
				t.Errorf("the id of Sofas is %q", id)
			}
			if found := got.Check(); strings.HasPrefix(c.text, "Seating\n") && len(found) > 0 {
				t.Errorf("findings: %v", found)
			}
		})
	}
}

func TestReadCustomFormErrors(t *testing.T) {
	for _, c := range []struct{ name, file, text, want string }{
		{"a parent that is not there", "a.csv", "id,parent_id,name\n1,7,Sofas\n", `a.csv:2: no line has the id "7" of the parent`},
		{"a circle", "a.csv", "id,parent_id,name\n1,2,A\n2,1,B\n", "a.csv:2: over 12 levels lead to the top, or a circle"},
		{"its own parent", "a.csv", "id,parent_id,name\n1,1,A\n", "a.csv:2: over 12 levels lead to the top, or a circle"},
		{"an id twice", "a.csv", "id,parent_id,name\n1,,A\n1,,B\n", `a.csv:3: the id "1" is also on line 2`},
		{"no name", "a.csv", "id,parent_id,name\n1,,\n", `a.csv:2: the category "1" has no name`},
		{"a gap", "a.csv", "level_1,level_2,level_3\nA,,C\n", `a.csv:2: the level "level_3" has a name, and one above it has none`},
		{"no level", "a.csv", "level_1,level_2,id\n,,7\n", "a.csv:2: all levels are empty"},
		{"a separator in a name", "a.csv", "id,parent_id,name\n1,,A > B\n", `a.csv:2: the name "A > B" holds a >`},
		{"a truncated tree", "a.json", "[{\"name\":\"A\",\n\"children\":[", "a.json:2: the JSON is broken: unexpected EOF"},
		{"two trees", "a.json", "{\"A\":null}\n{\"B\":null}", "a.json:2: the JSON is broken: there is text after the end"},
		{"too deep", "a.json", strings.Repeat("[", 10_000), "a.json:1: the JSON is broken: it is nested over 28 deep"},
		{"no name in a tree", "a.json", `[{"name":"","children":["B"]}]`, "a.json:1: a category has no name"},
		{"an unknown link", "a.csv", "path,links\nA,Furniture|Sofa\n", `a.csv:2: product_taxonomy has no category "Sofa" to link to`},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := readCustom(c.file, c.text)
			if err == nil || !strings.HasPrefix(err.Error(), c.want) {
				t.Errorf("error %v, want one that begins with %s", err, c.want)
			}
		})
	}
}

func TestWarningOfOneLevel(t *testing.T) {
	for text, warns := range map[string]bool{
		"Seating\nTables\nAction/Adventure\nBeds\n": true,
		"Seating\nTables\n":                         false,
		"Seating/Sofas\nTables\n":                   false, // half of the lines are paths
	} {
		c, err := readCustom("a.txt", text)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Warning() != ""; got != warns {
			t.Errorf("%q, read as %s: the warning is %q", text, c.Form, c.Warning())
		}
	}
}
