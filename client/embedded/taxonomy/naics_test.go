package taxonomy

import (
	"strings"
	"testing"
)

// sixDigits is the depth of the industries of six digits, the deepest.
const sixDigits = 4

func TestNAICSLevels(t *testing.T) {
	codes := map[int]int{} // by depth
	for _, c := range NAICS().Categories {
		codes[c.Depth]++
		if c.Parent < 0 {
			continue
		}
		if parent := NAICS().Categories[c.Parent].Code; !isChild(c.Code, parent) {
			t.Errorf("%s is under %s", c.Code, parent)
		}
	}
	for depth, want := range []int{20, 96, 308, 689, 1012} {
		if codes[depth] != want {
			t.Errorf("%d codes of %d digits, want %d", codes[depth], depth+2, want)
		}
	}
}

// isChild reports whether code is one digit longer than its parent's, and begins
// with it: "311" under "31-33", "3111" under "311".
func isChild(code, parent string) bool {
	first, last, isRange := strings.Cut(parent, "-")
	if !isRange {
		last = first
	}
	prefix := code[:len(code)-1]
	return len(prefix) == len(first) && first <= prefix && prefix <= last
}

// The codes are those of the 2022 edition and not of the 2017 edition.
func TestNAICSEdition(t *testing.T) {
	titles := map[string]string{}
	for _, c := range NAICS().Categories {
		titles[c.Code] = c.Title
	}
	for code, want := range map[string]string{
		"31-33":  "Manufacturing",
		"3251":   "Basic Chemical Manufacturing",
		"425":    "Wholesale Trade Agents and Brokers",
		"449":    "Furniture, Home Furnishings, Electronics, and Appliance Retailers",
		"455":    "General Merchandise Retailers",
		"457":    "Gasoline Stations and Fuel Dealers",
		"459":    "Sporting Goods, Hobby, Musical Instrument, Book, and Miscellaneous Retailers",
		"513":    "Publishing Industries",
		"516":    "Broadcasting and Content Providers",
		"5171":   "Wired and Wireless Telecommunications (except Satellite)",
		"33513":  "Electric Lighting Equipment Manufacturing",
		"32531":  "Fertilizer and Compost Manufacturing",
		"212220": "Gold Ore and Silver Ore Mining",
		"212290": "Other Metal Ore Mining",
		"336110": "Automobile and Light Duty Motor Vehicle Manufacturing",
		"449110": "Furniture Retailers",
		"455110": "Department Stores",
		"456110": "Pharmacies and Drug Retailers",
		"458110": "Clothing and Clothing Accessories Retailers",
		"513210": "Software Publishers",
		"516210": "Media Streaming Distribution Services, Social Networks, and Other Media Networks and Content Providers",
		"517810": "All Other Telecommunications",
		"519290": "Web Search Portals and All Other Information Services",
		"541511": "Custom Computer Programming Services",
		"811210": "Electronic and Precision Equipment Repair and Maintenance",
	} {
		if titles[code] != want {
			t.Errorf("title of %s = %q, want %q", code, titles[code], want)
		}
	}
	for code := range strings.FieldsSeq("443 454 511 515 4541 5173 51913 212221 442110 448110 452210 454110 511210 515120 519130") {
		if title, ok := titles[code]; ok {
			t.Errorf("%s %s is of the 2017 edition", code, title)
		}
	}
}

// An industry with few aliases is seldom found, and an alias of many industries distinguishes
// none of them.
func TestNAICSAliases(t *testing.T) {
	const (
		fewest     = 3
		mostOwners = 4
	)
	owners := map[string][]string{} // codes of six digits by alias
	for _, c := range NAICS().Categories {
		for _, a := range c.Aliases {
			if a != strings.ToLower(a) {
				t.Errorf("%s: alias %q is not in lower case", c.Code, a)
			}
		}
		if c.Depth < sixDigits {
			continue
		}
		if len(c.Aliases) < fewest {
			t.Errorf("%s %s has %d aliases, want %d at least", c.Code, c.Title, len(c.Aliases), fewest)
		}
		for _, a := range c.Aliases {
			owners[a] = append(owners[a], c.Code)
		}
	}
	for alias, codes := range owners {
		if len(codes) > mostOwners {
			t.Errorf("alias %q belongs to %v: leave it to %d of them at most", alias, codes, mostOwners)
		}
	}
}

// readOutline skips repeated aliases, so this test reads the file itself.
func TestNAICSAliasesOnce(t *testing.T) {
	for _, c := range parsed(t, "naics.aliases.txt") {
		if dup := duplicate(c.Aliases); dup != "" {
			t.Errorf("%s: alias %q is there twice", c.Code, dup)
		}
	}
}

// parsed reads one of the outlines.
func parsed(t *testing.T, file string) []Category {
	t.Helper()
	text, err := outlines.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	categories, err := Parse(file, string(text))
	if err != nil {
		t.Fatal(err)
	}
	return categories
}
