package service

import (
	"io"
	"net/http"
	"testing"
)

// TestAudit asks for two inputs on one connection, of which the first fails twice.
func TestAudit(t *testing.T) {
	fails := func(input string) int {
		if input == "a" {
			return 2
		}
		return 0
	}
	s := Start(t, Options{Fails: fails})
	for _, input := range []string{"a", "b"} {
		for len(s.Answers()[input]) == 0 {
			response, err := http.Get(s.URL() + "/api/v1/website/categorization?url=" + input)
			if err != nil {
				continue // one of the faults is a reset
			}
			_, _ = io.Copy(io.Discard, response.Body)
			_ = response.Body.Close()
		}
	}
	answers := s.Answers()
	if len(answers["a"]) != 1 || len(answers["b"]) != 1 {
		t.Fatalf("%d answers to a and %d to b, not one each", len(answers["a"]), len(answers["b"]))
	}
	if a := answers["a"][0]; a.Attempt < 3 {
		t.Errorf("a was answered at attempt %d, before its third", a.Attempt)
	}
	if !answers["b"][0].Last() || answers["a"][0].Last() {
		t.Error("only b was the last answer of the connection")
	}
}
