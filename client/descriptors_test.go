package client

import "testing"

func TestMaxConnections(t *testing.T) {
	for _, most := range []int{1, 1 << 30} {
		if n := MaxConnections(most); n < 1 || n > most {
			t.Errorf("MaxConnections(%d) is %d", most, n)
		}
	}
}
