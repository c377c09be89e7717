package words

import "testing"

func TestSeparate(t *testing.T) {
	k := &Lexicon{words: map[string]bool{"腕時計": true, "ワンピース": true, "ピース": true, "時計": true}}
	for _, c := range []struct {
		name, text, want string
		apart            bool
	}{
		{"the longest name counts", "ワンピース", " ワンピース ", false},
		{"a name in parts", "ワンピース", " ワン  ピース ", true},
		{"unknown letters end at a name", "革腕時計", " 革  腕時計 ", false},
		{"and at another script", "革ベルト", " 革  ベルト ", false},
		{"spaces separate features", "腕時計 18K", " 腕時計 , 18K", false},
		{"other letters stay", "Type-C 時計", "Type-C,  時計 ", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := k.Separate(c.text, c.apart); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}
