package clienttest

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// get asks for the category of a website, and returns the body of the answer; "" after an error.
func get(t *testing.T, e *Endpoint, input string) string {
	t.Helper()
	response, err := http.Get(e.URL() + "/api/v1/website/categorization?classification=taxonomy_v3&url=" + input)
	if err != nil {
		return ""
	}
	defer response.Body.Close()
	body, _ := io.ReadAll(response.Body) // incomplete is as good as none
	return string(body)
}

func open(t *testing.T, options Options) *Endpoint {
	t.Helper()
	e, err := NewEndpoint(New(options))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(e.Close)
	return e
}

// TestVisits asks for two inputs on one connection, of which the first fails twice.
func TestVisits(t *testing.T) {
	e := open(t, Options{Fails: func(input string, attempt int) Fault {
		if input == "a" && attempt <= 2 {
			return []Fault{"", Error500, HTML}[attempt]
		}
		return ""
	}})
	reached := e.After(4)
	for _, input := range []string{"a", "a", "a", "b"} {
		get(t, e, input)
	}
	<-reached
	answers := e.Answers()
	if len(answers["a"]) != 1 || len(answers["b"]) != 1 {
		t.Fatalf("%d answers to a and %d to b, not one each", len(answers["a"]), len(answers["b"]))
	}
	if a := answers["a"][0]; a.Attempt != 3 || a.Place != 3 || a.Last() || a.Left.Before(a.Arrived) {
		t.Errorf("the answer to a is %+v", a)
	}
	if !answers["b"][0].Last() {
		t.Error("the answer to b is not the last one of the connection")
	}
	if visits := e.Visits(); len(visits) != 4 || visits[0].Status != 500 || visits[1].Status != 0 {
		t.Errorf("the visits are %+v", visits)
	}
	if audit := e.Audit(); audit.Inputs["a"] != (Record{Attempts: 3, Answers: 1}) || audit.Twice() != 0 {
		t.Errorf("the audit is %+v", audit)
	}
}

// A service closes connections, and pads answers.
func TestClosedConnections(t *testing.T) {
	e := open(t, Options{CloseEvery: 2, Padding: 1000})
	for _, input := range []string{"a", "b", "c"} {
		if body := get(t, e, input); !strings.Contains(body, "About") || len(body) < 1000 {
			t.Errorf("the answer to %s is %q", input, body)
		}
	}
	for input, want := range map[string]int{"a": 1, "b": 2, "c": 1} {
		if v := e.Answers()[input][0]; v.Place != want || v.Closed != (want == 2) {
			t.Errorf("the visit of %s is %+v", input, v)
		}
	}
}

// An endpoint keeps its address and its records.
func TestEndpointOpensAgain(t *testing.T) {
	e := open(t, Options{})
	addr := e.Addr
	get(t, e, "a")
	e.Close()
	if body := get(t, e, "b"); body != "" {
		t.Errorf("a closed endpoint answers %q", body)
	}
	if err := e.Open(); err != nil || e.Addr != addr {
		t.Fatalf("the address is %s, not %s; %v", e.Addr, addr, err)
	}
	if body := get(t, e, "c"); body == "" || len(e.Visits()) != 2 {
		t.Errorf("got %q, and the visits %+v", body, e.Visits())
	}
}

// A limit before the latency refuses at once.
func TestRefusesAtOnce(t *testing.T) {
	e := open(t, Options{Limiter: &Bucket{Rate: 0.001}, Latency: time.Hour, RefusesAtOnce: true})
	if body := get(t, e, "a"); !strings.Contains(body, "too many requests") || e.Audit().Refused != 1 {
		t.Errorf("got %q, %+v", body, e.Audit())
	}
}

func TestPeak(t *testing.T) {
	var arrivals []time.Time
	for _, ms := range []int64{0, 400, 800, 990, 1000, 1100, 2500} {
		arrivals = append(arrivals, time.UnixMilli(ms))
	}
	if got := Peak(arrivals, time.Second); got != 5 {
		t.Errorf("%d within a second, not the 5 from 400 ms on", got)
	}
	if got := Peak(nil, time.Second); got != 0 {
		t.Errorf("%d of none", got)
	}
}
