package servers

import (
	"testing"
	"time"
)

func TestServed(t *testing.T) {
	at := func(s int64, status int) arrival { return arrival{at: time.Unix(s, 0), status: status} }
	all := []arrival{at(9, 200), at(10, 200), at(11, 503), at(12, 200), at(14, 200)}
	if got := served(all, time.Unix(10, 0), time.Unix(14, 0)); got != 0.5 {
		t.Errorf("%v a second, not 2 in 4 seconds", got)
	}
}
