package flow

import "testing"

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
