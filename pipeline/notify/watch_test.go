package notify

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestWatch(t *testing.T) {
	before := Snapshot{Quota: new(int64(100))}
	for _, tt := range []struct {
		name  string
		on    Occasions
		first Snapshot
		last  Snapshot
		want  []string
	}{
		{"two outages", Occasions{Outage: true}, Snapshot{}, Snapshot{Outages: 2}, []string{"outage", "outage"}},
		{"outages without the occasion", Occasions{Quota: 1}, Snapshot{}, Snapshot{Outages: 2}, nil},
		{"the share is used", Occasions{Quota: 0.8}, before, Snapshot{Quota: new(int64(20))}, []string{"quota"}},
		{"less than the share is used", Occasions{Quota: 0.8}, before, Snapshot{Quota: new(int64(21))}, nil},
		{"the quota is unknown at the end", Occasions{Quota: 0.8}, before, Snapshot{}, nil},
		{"the quota is unknown at the start", Occasions{Quota: 0.8}, Snapshot{}, before, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := newReceiver(t)
			n, err := New(Options{URL: r.URL, On: tt.on})
			if err != nil {
				t.Fatal(err)
			}
			looks := []Snapshot{tt.first, tt.last}
			n.Watch(func() Snapshot {
				s := looks[0]
				looks = looks[min(1, len(looks)-1):]
				return s
			})()
			n.Close(t.Context())
			var got []string
			for _, body := range r.accepted {
				var e Event
				if err := json.Unmarshal(body, &e); err != nil {
					t.Fatal(err)
				}
				got = append(got, string(e.Occasion))
			}
			if !slices.Equal(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
