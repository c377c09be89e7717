package flow

import (
	"slices"
	"testing"
)

func TestDistinct(t *testing.T) {
	type request struct {
		text string
		use  use
	}
	for name, tt := range map[string]struct {
		requests                        []request
		exactly, bySite, toAsk, toAskBy int64 // different requests of each mode, and those of them to be asked
	}{
		"none":                       {nil, 0, 0, 0, 0},
		"equal requests":             {[]request{{"a", exactly}, {"b", exactly}, {"a", exactly}}, 2, 0, 2, 0},
		"two spellings of a site":    {[]request{{"a/", exactly}, {"a", exactly | bySite}, {"a", bySite}}, 2, 1, 2, 1},
		"an answer":                  {[]request{{"a", exactly | bySite | answered}, {"b", exactly | bySite}}, 2, 2, 1, 1},
		"an answer that comes later": {[]request{{"a", exactly}, {"a", exactly | answered}}, 1, 0, 0, 0},
		"hashes with one first byte": {[]request{{"0", exactly}, {"26", exactly}, {"369", exactly}}, 3, 0, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDistinct()
			for _, r := range tt.requests {
				if err := d.add(r.text, r.use); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.count()
			if err != nil || got.of(exactly) != tt.exactly || got.of(bySite) != tt.bySite || got.toAsk(exactly) != tt.toAsk || got.toAsk(bySite) != tt.toAskBy {
				t.Errorf("got %v, %v", got, err)
			}
			if err := d.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDigest has an equal digest for equal sets of requests alone.
func TestDigest(t *testing.T) {
	digest := func(u use, requests ...string) string {
		t.Helper()
		d := newDistinct()
		defer d.close()
		for i, r := range requests {
			if err := d.add(r, u|use(i%2)*answered); err != nil { // some have an outcome, which does not matter
				t.Fatal(err)
			}
		}
		counts, err := d.count()
		if err != nil {
			t.Fatal(err)
		}
		return counts.digest(exactly)
	}
	all := []string{"a", "b", "c"}
	want := digest(exactly, all...)
	for name, same := range map[string][]string{"another order": {"b", "c", "a"}, "repeated": {"a", "a", "b", "c", "b"}} {
		if got := digest(exactly, same...); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	different := []string{want}
	for name, other := range map[string][]string{"one more": {"a", "b", "c", "d"}, "one less": {"a", "c"}, "another": {"a", "b", "d"}, "none": nil} {
		got := digest(exactly, other...)
		if slices.Contains(different, got) {
			t.Errorf("%s: %s is the digest of others", name, got)
		}
		different = append(different, got)
	}
	if got := digest(bySite, all...); got != digest(exactly) {
		t.Errorf("requests of the other mode count: %s", got)
	}
}
