package writer

import (
	"math"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client"
)

func TestFlatten(t *testing.T) {
	nan := math.NaN()
	berlin := time.FixedZone("CEST", 2*60*60)
	tests := []struct {
		name   string
		schema Schema
		result Result
		want   []Row
	}{
		{
			name:   "a row per entry, ranked",
			schema: Schema{Form: Form{Levels: 2}},
			result: Result{
				Record: 7, Input: "https://a.example", Status: StatusOK, Classification: "taxonomy_v3",
				Entries: []Entry{{Value: "Arts > Music", Confidence: 0.9}, {Value: "News", Confidence: 0.1}},
			},
			want: []Row{
				{Record: 7, Input: "https://a.example", Status: "ok", Classification: "taxonomy_v3", Rank: 1, Value: "Arts > Music", Confidence: 0.9, Levels: []string{"Arts", "Music"}},
				{Record: 7, Input: "https://a.example", Status: "ok", Classification: "taxonomy_v3", Rank: 2, Value: "News", Confidence: 0.1, Levels: []string{"News"}},
			},
		},
		{
			name:   "one row without entries",
			result: Result{Record: 1, Status: StatusRejected, Error: "no such site"},
			want:   []Row{{Record: 1, Status: "rejected", Confidence: nan, Error: "no such site"}},
		},
		{
			name:   "levels deeper than the columns stay in the value",
			schema: Schema{Form: Form{Levels: 1}},
			result: Result{Record: 1, Entries: []Entry{{Value: "A > B > C"}}},
			want:   []Row{{Record: 1, Rank: 1, Value: "A > B > C", Levels: []string{"A"}}},
		},
		{
			name:   "a separator without its spaces is part of a level",
			schema: Schema{Form: Form{Levels: 3}},
			result: Result{Record: 1, Entries: []Entry{{Value: "A>B > > > C"}}},
			want:   []Row{{Record: 1, Rank: 1, Value: "A>B > > > C", Levels: []string{"A>B", ">", "C"}}},
		},
		{
			name:   "an empty value has no levels",
			schema: Schema{Form: Form{Levels: 3}},
			result: Result{Record: 1, Entries: []Entry{{Confidence: 1}}},
			want:   []Row{{Record: 1, Rank: 1, Confidence: 1}},
		},
		{
			name:   "a negative number of levels is none",
			schema: Schema{Form: Form{Levels: -4}},
			result: Result{Record: 1, Entries: []Entry{{Value: "A > B"}}},
			want:   []Row{{Record: 1, Rank: 1, Value: "A > B"}},
		},
		{
			name:   "naics levels are prefixes",
			schema: Schema{Form: Form{Levels: 4}, Titles: true, Codes: client.Codes()},
			result: Result{Record: 1, Classification: "naics", Entries: []Entry{{Value: "541511", ID: "541511", Title: "Custom Computer Programming Services"}}},
			want: []Row{{
				Record: 1, Classification: "naics", Rank: 1, Value: "541511", CategoryID: "541511", Title: "Custom Computer Programming Services",
				Levels: []string{"54", "541", "5415", "54151"},
			}},
		},
		{
			name:   "a short naics code has fewer levels",
			schema: Schema{Form: Form{Levels: 5}, Titles: true, Codes: client.Codes()},
			result: Result{Record: 1, Classification: "naics", Entries: []Entry{{Value: "541"}, {Value: "5"}, {Value: ""}}},
			want: []Row{
				{Record: 1, Classification: "naics", Rank: 1, Value: "541", Levels: []string{"54", "541"}},
				{Record: 1, Classification: "naics", Rank: 2, Value: "5"},
				{Record: 1, Classification: "naics", Rank: 3},
			},
		},
		{
			name:   "a naics sector of several numbers",
			schema: Schema{Form: Form{Levels: 4}, Titles: true, Codes: client.Codes()},
			result: Result{Record: 1, Classification: "naics", Entries: []Entry{{Value: "31-33"}}},
			want:   []Row{{Record: 1, Classification: "naics", Rank: 1, Value: "31-33", Levels: []string{"31"}}},
		},
		{
			name:   "another classification beside naics has paths and no titles",
			schema: Schema{Form: Form{Levels: 2}, Titles: true, Codes: client.Codes()},
			result: Result{Record: 1, Classification: "taxonomy_v3", Entries: []Entry{{Value: "Arts > Music", ID: "338", Title: "Music"}}},
			want:   []Row{{Record: 1, Classification: "taxonomy_v3", Rank: 1, Value: "Arts > Music", CategoryID: "338", Levels: []string{"Arts", "Music"}}},
		},
		{
			name:   "confidences that no format can hold are null",
			result: Result{Record: 1, Entries: []Entry{{Value: "A", Confidence: math.Inf(1)}, {Value: "B", Confidence: nan}}},
			want: []Row{
				{Record: 1, Rank: 1, Value: "A", Confidence: nan},
				{Record: 1, Rank: 2, Value: "B", Confidence: nan},
			},
		},
		{
			name:   "invalid UTF-8 is replaced everywhere",
			schema: Schema{Titles: true, Codes: map[string]func([]string, string, int) []string{"\xc3": client.Codes()["naics"]}},
			result: Result{
				Record: 1, Input: "a\xff\xfeb", Status: "o\xff", Classification: "\xc3", Error: "\xff", Source: "\xff",
				Entries: []Entry{{Value: "x\xff", ID: "\xff", Title: "\xffy"}}, Fields: []string{"fine", "\xe2\x82", "ü"},
			},
			want: []Row{{
				Record: 1, Input: "a\uFFFDb", Status: "o\uFFFD", Classification: "\uFFFD", Error: "\uFFFD", Source: "\uFFFD",
				Rank: 1, Value: "x\uFFFD", CategoryID: "\uFFFD", Title: "\uFFFDy", Fields: []string{"fine", "\uFFFD", "ü"},
			}},
		},
		{
			name:   "times are UTC in microseconds",
			result: Result{Record: 1, AnsweredAt: time.Date(2026, 3, 1, 1, 30, 0, 123_456_789, berlin)},
			want:   []Row{{Record: 1, Confidence: nan, AnsweredAt: time.Date(2026, 2, 28, 23, 30, 0, 123_456_000, time.UTC)}},
		},
		{
			name:   "a year that RFC 3339 cannot write is null",
			result: Result{Record: 1, AnsweredAt: time.Date(12026, 1, 1, 0, 0, 0, 0, time.UTC)},
			want:   []Row{{Record: 1, Confidence: nan}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := tt.schema.Flatten(nil, tt.result)
			if len(got) != len(tt.want) {
				t.Fatalf("%d rows, want %d", len(got), len(tt.want))
			}
			for i := range got {
				if !sameRow(got[i], tt.want[i]) {
					t.Errorf("row %d:\n got %+v\nwant %+v", i+1, got[i], tt.want[i])
				}
			}
		})
	}
}

// sameRow compares rows. NaN equals NaN, and empty levels equal nil.
func sameRow(a, b Row) bool {
	if math.IsNaN(a.Confidence) && math.IsNaN(b.Confidence) {
		a.Confidence, b.Confidence = 0, 0
	}
	if len(a.Levels) == 0 && len(b.Levels) == 0 {
		a.Levels, b.Levels = nil, nil
	}
	return reflect.DeepEqual(a, b)
}

func TestFlattenTakesGivenLevels(t *testing.T) {
	rows := Schema{Form: Form{Levels: 3}}.Flatten(nil, Result{Record: 1, Entries: []Entry{{Value: "A > B", Levels: []string{"a", "b"}}, {Value: "C > D"}}})
	for i, want := range [][]string{{"a", "b"}, {"C", "D"}} {
		if !slices.Equal(rows[i].Levels, want) {
			t.Errorf("row %d: got levels %q, want %q", i+1, rows[i].Levels, want)
		}
	}
}

func TestFlattenLeavesResultAlone(t *testing.T) {
	r := Result{Fields: []string{"a", "\xff"}, Entries: []Entry{{Value: "\xff"}}}
	Schema{}.Flatten(nil, r)
	if r.Fields[1] != "\xff" || r.Entries[0].Value != "\xff" {
		t.Errorf("Flatten changed its argument: %+v", r)
	}
}

func TestFlattenDoesNotAllocate(t *testing.T) {
	r := Result{
		Record: 1, Input: "https://a.example", Status: StatusOK, AnsweredAt: time.Unix(1, 0),
		Entries: []Entry{{Value: "A > B > C", Confidence: 1}, {Value: "D"}}, Fields: []string{"x", "y"},
	}
	for _, s := range []Schema{{Form: Form{Levels: 4}}, {Form: Form{Levels: 4}, Titles: true, Codes: client.Codes()}} {
		for i, e := range r.Entries {
			r.Entries[i].Levels = s.AppendLevels([]string{}, r.Classification, e.Value)
		}
		rows := s.Flatten(nil, r)
		if n := testing.AllocsPerRun(100, func() { rows = s.Flatten(rows[:0], r) }); n != 0 {
			t.Errorf("%+v: %v allocations a record, want none", s, n)
		}
	}
}
