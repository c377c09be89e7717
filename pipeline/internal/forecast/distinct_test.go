package forecast

import (
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

func TestDistinct(t *testing.T) {
	type request struct {
		input string
		use   Use
	}
	for name, tt := range map[string]struct {
		requests                        []request
		exactly, bySite, toAsk, toAskBy int64 // different requests of each mode, and those of them to be asked
	}{
		"none":                       {nil, 0, 0, 0, 0},
		"equal requests":             {[]request{{"a", Exactly}, {"b", Exactly}, {"a", Exactly}}, 2, 0, 2, 0},
		"two spellings of a site":    {[]request{{"a/", Exactly}, {"a", Exactly | BySite}, {"a", BySite}}, 2, 1, 2, 1},
		"an answer":                  {[]request{{"a", Exactly | BySite | Answered}, {"b", Exactly | BySite}}, 2, 2, 1, 1},
		"an answer that comes later": {[]request{{"a", Exactly}, {"a", Exactly | Answered}}, 1, 0, 0, 0},
		"hashes with one first byte": {[]request{{"0", Exactly}, {"236", Exactly}, {"309", Exactly}}, 3, 0, 3, 0},
	} {
		t.Run(name, func(t *testing.T) {
			d := NewDistinct()
			for _, r := range tt.requests {
				if err := d.Add(client.Request{Input: r.input}, r.use); err != nil {
					t.Fatal(err)
				}
			}
			got, err := d.Count()
			if err != nil || got.Of(Exactly) != tt.exactly || got.Of(BySite) != tt.bySite || got.ToAsk(Exactly) != tt.toAsk || got.ToAsk(BySite) != tt.toAskBy {
				t.Errorf("got %v, %v", got, err)
			}
			if err := d.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestDigest has an equal digest for equal sets of requests alone.
func TestDigest(t *testing.T) {
	digest := func(u Use, requests ...string) string {
		t.Helper()
		d := NewDistinct()
		defer d.Close()
		for i, r := range requests {
			if err := d.Add(client.Request{Input: r}, u|Use(i%2)*Answered); err != nil { // some have an outcome, which does not matter
				t.Fatal(err)
			}
		}
		counts, err := d.Count()
		if err != nil {
			t.Fatal(err)
		}
		return counts.Digest(Exactly)
	}
	all := []string{"a", "b", "c"}
	want := digest(Exactly, all...)
	for name, same := range map[string][]string{"another order": {"b", "c", "a"}, "repeated": {"a", "a", "b", "c", "b"}} {
		if got := digest(Exactly, same...); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	different := []string{want}
	for name, other := range map[string][]string{"one more": {"a", "b", "c", "d"}, "one less": {"a", "c"}, "another": {"a", "b", "d"}, "none": nil} {
		got := digest(Exactly, other...)
		if slices.Contains(different, got) {
			t.Errorf("%s: %s is the digest of others", name, got)
		}
		different = append(different, got)
	}
	if got := digest(BySite, all...); got != digest(Exactly) {
		t.Errorf("requests of the other mode count: %s", got)
	}
}
