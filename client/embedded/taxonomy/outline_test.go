package taxonomy

import (
	"cmp"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
)

func TestParse(t *testing.T) {
	const outline = "# a comment\n" +
		"Food & Drink: meal\n" +
		"\tTea, Coffee/Cocoa: green tea, espresso\n" +
		"\n" +
		"\t\tEspresso (Beans) #12a\n" +
		"\t\tMocha #7: caffè mocha\n" +
		"31-33\tManufacturing\n" +
		"\t311\tFood Manufacturing: canned food\n"
	got, err := Parse("test.txt", outline)
	if err != nil {
		t.Fatal(err)
	}
	want := []Category{
		{Name: "Food & Drink", Path: "Food & Drink", Parent: -1, Aliases: []string{"meal"}},
		{Name: "Tea, Coffee/Cocoa", Path: "Food & Drink > Tea, Coffee/Cocoa", Parent: 0, Depth: 1, Aliases: []string{"green tea", "espresso"}},
		{ID: "12a", Name: "Espresso (Beans)", Path: "Food & Drink > Tea, Coffee/Cocoa > Espresso (Beans)", Parent: 1, Depth: 2},
		{ID: "7", Name: "Mocha", Path: "Food & Drink > Tea, Coffee/Cocoa > Mocha", Parent: 1, Depth: 2, Aliases: []string{"caffè mocha"}},
		{ID: "31-33", Code: "31-33", Name: "Manufacturing", Path: "31-33", Title: "Manufacturing", Parent: -1},
		{ID: "311", Code: "311", Name: "Food Manufacturing", Path: "311", Title: "Food Manufacturing", Parent: 4, Depth: 1, Aliases: []string{"canned food"}},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	tests := []struct{ name, outline, want string }{
		{"depth jumps", "A\n\t\tB\n", `test.txt:2: "B" is indented by 2 tabs under a parent indented by 0`},
		{"first line is a child", "\tA\n", `test.txt:1: "A" is indented by 1 tabs`},
		{"same name twice", "A\n\tB\n\tB\n", `test.txt:3: "A > B" is there twice`},
		{"same code twice", "11\tA\n12\tB\n12\tC\n", `test.txt:3: "12" is there twice`},
		{"no name", "A\n\t: alias\n", "test.txt:2: empty name"},
		{"space before a name", "A\n\t B\n", "test.txt:2: name \" B\" has space around it"},
		{"colon without aliases", "A:\n", `test.txt:1: name "A:" holds one of`},
		{"path separator in a name", "A > B\n", `test.txt:1: name "A > B" holds one of`},
		{"empty alias", "A: b, , c\n", "test.txt:1: empty alias"},
		{"comma in an alias", "A: b,c\n", `test.txt:1: alias "b,c" holds one of`},
		{"bad code", "1x\tA\n", `test.txt:1: code "1x"`},
		{"no id", "A\n\tB #: c\n", `test.txt:2: id ""`},
		{"space in an id", "A #1 2\n", `test.txt:1: id "1 2"`},
		{"open range", "31-\tA\n", `test.txt:1: code "31-"`},
		{"not UTF-8", "A\xff\n", "test.txt:1: not UTF-8"},
		{"endless line", strings.Repeat("A", 9000), "test.txt:1: line of 9000 bytes"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse("test.txt", tt.outline)
			var syntax *SyntaxError
			if !errors.As(err, &syntax) {
				t.Fatalf("error = %v, want a *SyntaxError", err)
			}
			if !strings.HasPrefix(err.Error(), tt.want) {
				t.Errorf("error = %q, want it to start with %q", err, tt.want)
			}
		})
	}
}

func TestOverlay(t *testing.T) {
	const outline = "A: one\n\tB\n\tC\n"
	tests := []struct {
		name, overlay string
		want          []string // aliases of A, B and C, joined
		wantErr       string
	}{
		{"adds to what is there", "A: two\n\tC: three, four\n", []string{"one|two", "", "three|four"}, ""},
		{"skips siblings", "A\n\tC: three\n", []string{"one", "", "three"}, ""},
		{"unknown category", "A\n\tD: five\n", nil, `extra.txt:2: no category "D" (A > D)`},
		{"wrong parent", "B: five\n", nil, `extra.txt:1: no category "B" (B)`},
		{"named twice", "A: two\nA: three\n", nil, `extra.txt:2: "A" is there twice`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f := newForest()
			if err := f.readOutline("test.txt", outline, false); err != nil {
				t.Fatal(err)
			}
			err := f.readOutline("extra.txt", tt.overlay, true)
			if tt.wantErr != "" {
				if err == nil || !strings.HasPrefix(err.Error(), tt.wantErr) {
					t.Fatalf("error = %v, want it to start with %q", err, tt.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range tt.want {
				if got := strings.Join(f.nodes[i].Aliases, "|"); got != want {
					t.Errorf("aliases of %s = %q, want %q", f.nodes[i].Path, got, want)
				}
			}
		})
	}
}

// Aliases decide the categories of websites, so every category needs enough of them, and none may
// be a word without meaning.
func TestIABAliases(t *testing.T) {
	const (
		leastUpper = 15 // of the two upper tiers
		leastLower = 5
		mostShared = 4 // categories with the same alias
	)
	holders := make(map[string][]string)
	for _, c := range IAB().Categories {
		least := leastLower
		if c.Depth < 2 {
			least = leastUpper
		}
		if len(c.Aliases) < least {
			t.Errorf("%s has %d aliases, want at least %d", c.Path, len(c.Aliases), least)
		}
		for i, a := range c.Aliases {
			if slices.Contains(c.Aliases[:i], a) {
				t.Errorf("%s: alias %q is there twice", c.Path, a)
			}
			if strings.ToLower(a) != a {
				t.Errorf("%s: alias %q is not in lower case", c.Path, a)
			}
			if slices.Contains(emptyWords, a) {
				t.Errorf("%s: alias %q says nothing", c.Path, a)
			}
			holders[a] = append(holders[a], c.Path)
		}
	}
	for a, paths := range holders {
		if len(paths) > mostShared {
			t.Errorf("alias %q is held by %d categories, want at most %d: %q", a, len(paths), mostShared, paths)
		}
	}
}

// emptyWords are in texts on all subjects.
var emptyWords = strings.Fields(`a about all also an and any are as at be best but by can do for from get good great has have he how
	if in is it its make me more most my new no not now of off on one online or other our out over page read see service she site so some
	than that the their there they this time to today up us use very was way we web welcome what when where who why will with you your`)

// Writing and parsing an outline gives the same categories.
func FuzzParse(f *testing.F) {
	f.Add("A\n\tB: c, d\n\t\tE\nF\n")
	f.Add("# comment\n\n31-33\tManufacturing\n\t311\tFood: canned food\n")
	f.Add("\tA")
	f.Add("A: \n")
	f.Add("A: b: c\n")
	f.Add("A #1: b\n\tB #x-2\n11\tC #3\nD # #\n")
	f.Fuzz(func(t *testing.T, text string) {
		categories, err := Parse("fuzz.txt", text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || syntax.Line < 1 {
				t.Fatalf("error %v is not a *SyntaxError with a line", err)
			}
			return
		}
		again, err := Parse("again.txt", format(categories))
		if err != nil {
			t.Fatalf("%v, of\n%s", err, format(categories))
		}
		if !reflect.DeepEqual(again, categories) {
			t.Errorf("got  %+v\nwant %+v", again, categories)
		}
		overlaid := newForest()
		if err := cmp.Or(overlaid.readOutline("fuzz.txt", text, false), overlaid.readOutline("overlay.txt", text, true)); err != nil {
			t.Errorf("as an overlay of itself: %v", err)
		}
	})
}

// format writes categories as an outline.
func format(categories []Category) string {
	var b strings.Builder
	for _, c := range categories {
		b.WriteString(strings.Repeat("\t", c.Depth))
		if c.Code != "" {
			b.WriteString(c.Code + "\t")
		}
		b.WriteString(c.Name)
		if c.Code == "" && c.ID != "" {
			b.WriteString(" #" + c.ID)
		}
		if len(c.Aliases) > 0 {
			b.WriteString(": " + strings.Join(c.Aliases, ", "))
		}
		b.WriteByte('\n')
	}
	return b.String()
}
