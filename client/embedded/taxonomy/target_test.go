package taxonomy

import "testing"

func TestMapping(t *testing.T) {
	tests := []struct {
		name, to, path string
		want           Mapped
	}{
		{"the same path", "google-2021", "Furniture > Sofas", Mapped{"460", "460", "Furniture > Sofas", false}},
		{"a category of a later edition", "iab-3.0", "Genres > Thriller", Mapped{"700", "SPSHQ5", "Genres", true}},
		{"an edition with other names", "iab-2.2", "Politics > Political Issues & Policy", Mapped{"388", "388", "Political Issues", false}},
		{"a path of no edition", "iab-2.2", "Politics > Aliens", Mapped{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			target, err := NewTarget(tt.to)
			if err != nil {
				t.Fatal(err)
			}
			if got := target.Map(tt.path); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
	if _, err := NewTarget("iab-9"); err == nil {
		t.Error("an unknown edition is found")
	}
}

// Each category of an edition is mapped to itself in that edition, and nearly all to the other editions.
func TestMappingOfWholeEditions(t *testing.T) {
	for _, name := range targets {
		target, err := NewTarget(name[0])
		if err != nil {
			t.Fatal(err)
		}
		for i, source := range target.indexes {
			none, broader := 0, 0
			for _, c := range source.categories {
				m := target.Map(c.Path)
				switch {
				case m.From != c.ID:
					t.Fatalf("%s: %s is found as %q, not as %q", name[0], c.Path, m.From, c.ID)
				case m.ID == "":
					none++
				case m.Broader:
					broader++
				}
			}
			if all := len(source.categories); none*50 > all || broader*50 > all {
				t.Errorf("%s from edition %d: of %d categories %d have none and %d a broader one", name[0], i, all, none, broader)
			}
			t.Logf("%s from edition %d: %d none, %d broader of %d", name[0], i, none, broader, len(source.categories))
		}
	}
}
