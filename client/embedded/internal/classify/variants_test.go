package classify

import "testing"

// Two variant spellings with one stem have one common spelling, and a common spelling is no variant: else the order of a map decides.
func TestVariantsAreUnambiguous(t *testing.T) {
	for from, to := range variants {
		for other, common := range variants {
			if string(stem([]byte(from))) == string(stem([]byte(other))) && string(stem([]byte(to))) != string(stem([]byte(common))) {
				t.Errorf("%s is %s, and %s is %s", from, to, other, common)
			}
		}
		if further, ok := stemmedVariants()[string(stem([]byte(to)))]; ok && further != string(stem([]byte(to))) {
			t.Errorf("%s is %s, which is %s", from, to, further)
		}
	}
}
