package nginx

import (
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	got, err := parse("1700000000.500 0.125 429 /api/v1/website/categorization?url=https%3A%2F%2Fa.example&classification=taxonomy_v3")
	want := Request{
		Arrived: time.UnixMilli(1700000000375), Ended: time.UnixMilli(1700000000500), Status: 429, Input: "https://a.example",
	}
	if err != nil || got != want {
		t.Errorf("%+v, %v, not %+v", got, err, want)
	}
}
