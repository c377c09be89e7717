package embedded

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
)

// Quota is how many answers a key is good for, or Unlimited.
type Quota int64

// Unlimited is the quota of a key that is never used up.
const Unlimited Quota = -1

// Rate is a number of requests in a window of time. The zero value is no limit.
type Rate struct {
	Requests int
	Window   time.Duration // in whole seconds; less than one is taken for one
}

// Grant is an accepted API key and what it is good for. It prints as its name.
type Grant struct {
	Key   string
	Name  string // stands for the key in logs and metrics, unique; default: made from the key's digest
	Plan  string // as usage tells it; default "embedded"
	Quota Quota  // the zero value is none
	Rate  Rate
	Burst int // requests at once, beyond the rate; default: those of a second, 1 at least
}

// String never shows the key.
func (g Grant) String() string { return g.Name }

// ErrNoKeys is a file of API keys without a key, which would let everyone in.
var ErrNoKeys = errors.New("there is no API key; put one on a line of its own")

// KeyError is a line of a file of API keys that cannot be used. It never holds
// the key, nor anything else of the line: it could be the key in a wrong place.
type KeyError struct {
	Line    int // counted from 1
	Problem string
}

func (e *KeyError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// LoadKeys reads API keys, one a line, each followed by what it is good for:
//
//	KEY
//	KEY 100000
//	KEY quota=100000 rate=50/s burst=100 plan=team name=alice
//
// A number behind the key is its quota. What is not said is not limited. Empty
// lines and lines that start with # are skipped. Its errors are *KeyError,
// ErrNoKeys, or those of r.
func LoadKeys(r io.Reader) ([]Grant, error) {
	var grants []Grant
	keys, names := map[string]bool{}, map[string]bool{}
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		g, problem := parseGrant(line)
		switch {
		case problem != "":
		case keys[g.Key]:
			problem = "the key stands on an earlier line too; remove one of them"
		case names[g.Name]:
			problem = "the name stands on an earlier line too; give each key its own"
		}
		if problem != "" {
			return nil, &KeyError{Line: number, Problem: problem}
		}
		keys[g.Key], names[g.Name] = true, true
		grants = append(grants, g)
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &KeyError{Line: number + 1, Problem: "the line is too long for a key"}
	case err != nil:
		return nil, err
	case len(grants) == 0:
		return nil, ErrNoKeys
	}
	return grants, nil
}

// parseGrant reads a line that is not empty.
func parseGrant(line string) (g Grant, problem string) {
	words := strings.Fields(line)
	g = Grant{Key: words[0], Quota: Unlimited}
	for _, c := range []byte(g.Key) {
		if c <= ' ' || c >= 0x7f {
			return g, "the key has a character that no HTTP header carries; use printable ASCII"
		}
	}
	set := map[string]bool{}
	for i, word := range words[1:] {
		attribute, value, ok := strings.Cut(word, "=")
		if !ok && i == 0 {
			attribute, value = "quota", word
		}
		problem := g.set(attribute, value)
		if set[attribute] {
			problem = "an attribute is given twice"
		}
		if problem != "" {
			return g, fmt.Sprintf("word %d: %s", i+2, problem)
		}
		set[attribute] = true
	}
	if g.Burst > 0 && g.Rate.Requests == 0 {
		return g, "there is a burst without a rate"
	}
	return g.applyDefaults(), ""
}

// set gives an attribute its value, or says what is wrong with it.
func (g *Grant) set(attribute, value string) (problem string) {
	var ok bool
	switch attribute {
	case "quota":
		if g.Quota, ok = parseQuota(value); !ok {
			return "the quota must be a whole number from 0, or unlimited"
		}
	case "rate":
		if g.Rate, ok = parseRate(value); !ok {
			return "the rate must be like 50/s, 600/m or 36000/h; leave it out for no limit"
		}
	case "burst":
		if g.Burst, ok = parseCount(value); !ok {
			return "the burst must be a whole number from 1"
		}
	case "plan":
		if g.Plan, ok = value, isLabel(value); !ok {
			return "the plan must be of letters, digits, and any of ._@-, 64 at most"
		}
	case "name":
		if g.Name, ok = value, isLabel(value); !ok {
			return "the name must be of letters, digits, and any of ._@-, 64 at most"
		}
	default:
		return "after the key may stand quota=, rate=, burst=, plan= and name=, or the quota alone"
	}
	return ""
}

func (g Grant) applyDefaults() Grant {
	if g.Name == "" {
		g.Name = "key-" + digestOf(g.Key).String()[:8]
	}
	if g.Plan == "" {
		g.Plan = "embedded"
	}
	if g.Rate.Requests > 0 {
		g.Rate.Window = max(g.Rate.Window, time.Second).Truncate(time.Second)
		if g.Burst <= 0 {
			g.Burst = max(1, int(g.Rate.perSecond()))
		}
	}
	return g
}

func (r Rate) perSecond() float64 { return float64(r.Requests) / r.Window.Seconds() }

func parseQuota(text string) (Quota, bool) {
	if text == "unlimited" {
		return Unlimited, true
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return Quota(n), err == nil && n >= 0
}

func parseRate(text string) (Rate, bool) {
	number, unit, _ := strings.Cut(text, "/")
	windows := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	n, ok := parseCount(number)
	return Rate{n, windows[unit]}, ok && windows[unit] > 0
}

// parseCount reads a number from 1; a billion is more than any service answers.
func parseCount(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= 1e9
}

// isLabel says whether text can stand in a log and in a metric as it is.
func isLabel(text string) bool {
	if text == "" || len(text) > 64 {
		return false
	}
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', strings.IndexByte("._@-", c) >= 0:
		default:
			return false
		}
	}
	return true
}
