package words

import "testing"

// Two variant spellings with one stem have one common spelling, and a common spelling is no variant: else the order of a map decides.
func TestVariantsAreUnambiguous(t *testing.T) {
	for from, to := range variants {
		for other, common := range variants {
			if string(Stem([]byte(from))) == string(Stem([]byte(other))) && string(Stem([]byte(to))) != string(Stem([]byte(common))) {
				t.Errorf("%s is %s, and %s is %s", from, to, other, common)
			}
		}
		if further, ok := English.Variants()[string(Stem([]byte(to)))]; ok && further != string(Stem([]byte(to))) {
			t.Errorf("%s is %s, which is %s", from, to, further)
		}
	}
}
