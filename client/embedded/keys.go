package embedded

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
)

// Quota is the number of answers that a key may get, or Unlimited.
type Quota int64

// Unlimited is the quota of a key without a limit.
const Unlimited Quota = -1

// Rate is a number of requests in a window of time. The zero value means no limit.
type Rate struct {
	Requests int
	Window   time.Duration // whole seconds; a shorter window counts as one second
}

const mostPriority = 1000

// Grant is an accepted API key with its limits. It prints as its name.
type Grant struct {
	Key   string
	Name  string // unique; stands for the key in logs and metrics; default: the number of the key, such as key-2, and with LoadKeys the number of the line
	Plan  string // shown by the usage operation; default Options.Plan
	Quota Quota  // 0 allows no answer
	Rate  Rate

	Period Period         // after which the quota is renewed
	Zone   *time.Location // of the period; default UTC

	Burst int // requests at once; default: the requests of a second, at least 1

	// Priority is the weight of the key among other keys whose requests wait, from 1 to 1000; 0 stands for 1.
	Priority int

	InFlight int // most requests in flight; others wait; 0 for no bound
}

// String returns the name; the key is never printed.
func (g Grant) String() string { return g.Name }

// ErrNoKeys means that a file of API keys has no key, which would allow every request.
var ErrNoKeys = errors.New("there is no API key; put one on a line of its own")

// KeyError is a malformed line of a file of API keys. It contains no text of the line, which may be a key.
type KeyError struct {
	Line    int // counted from 1
	Problem string
}

func (e *KeyError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// LoadKeys reads API keys, one per line, each followed by its limits:
//
//	KEY
//	KEY 100000
//	KEY quota=100000 rate=50/s burst=100 in-flight=20 priority=2 plan=team name=alice
//	KEY quota=100000/month zone=Europe/Berlin
//	KEY cost=50/month
//
// A number after the key is its quota. A quota of a day, week or month is renewed at midnight in the zone, by default UTC. A cost
// is a quota in money, converted with the price of a request. A cost without a price is an error. A limit that is not given does
// not apply. LoadKeys skips empty lines and lines that start with #. The error is a *KeyError, ErrNoKeys, or an error of r.
func LoadKeys(r io.Reader, price money.Price) ([]Grant, error) {
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
		g, problem := parseGrant(line, price)
		g.Name = cmp.Or(g.Name, numbered(number))
		switch {
		case problem != "":
		case keys[g.Key]:
			problem = "the key is on an earlier line, too; remove one of them"
		case names[g.Name]:
			problem = "the name is on an earlier line, too, or is the number of a line; give each key a name of its own"
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
func parseGrant(line string, price money.Price) (g Grant, problem string) {
	words := strings.Fields(line)
	g = Grant{Key: words[0], Quota: Unlimited}
	for _, c := range []byte(g.Key) {
		if c <= ' ' || c >= 0x7f {
			return g, "the key has a character that HTTP headers cannot have; use printable ASCII"
		}
	}
	set := map[string]bool{}
	for i, word := range words[1:] {
		attribute, value, ok := strings.Cut(word, "=")
		if !ok && i == 0 {
			attribute, value = "quota", word
		}
		problem := g.set(attribute, value, price)
		if set[attribute] {
			problem = "an attribute is given twice"
		}
		if problem != "" {
			return g, fmt.Sprintf("word %d: %s", i+2, problem)
		}
		set[attribute] = true
	}
	if set["quota"] && set["cost"] {
		return g, "there is a quota and a cost"
	}
	if g.Burst > 0 && g.Rate.Requests == 0 {
		return g, "there is a burst without a rate"
	}
	if g.Zone != nil && g.Period == "" {
		return g, "there is a zone without a quota of a day, week or month"
	}
	return g.applyDefaults(), ""
}

// set sets an attribute, or returns the problem of the value.
func (g *Grant) set(attribute, value string, price money.Price) (problem string) {
	var ok bool
	switch attribute {
	case "quota":
		if g.Quota, g.Period, ok = parseQuota(value); !ok {
			return "the quota must be a whole number from 0, such as 5000, 5000/day, 5000/week or 5000/month, or unlimited"
		}
	case "cost":
		if price.Request == 0 {
			return "a cost needs a price: give --price to a gateway"
		}
		var text string
		text, g.Period, ok = cutPeriod(value)
		amount, err := money.Parse(text)
		if !ok || err != nil {
			return "the cost must be an amount of money, such as 50, 50/day, 50/week or 50/month"
		}
		if g.Quota = Quota(price.Requests(amount)); g.Quota == 0 {
			return "the cost does not pay for one request"
		}
	case "zone":
		var err error
		if g.Zone, err = time.LoadLocation(value); err != nil || value == "" || value == "Local" {
			return "the zone must be a name of the IANA time zone database, such as Europe/Berlin"
		}
	case "rate":
		if g.Rate, ok = parseRate(value); !ok {
			return "the rate must be like 50/s, 600/m or 36000/h; leave it out for no limit"
		}
	case "burst":
		if g.Burst, ok = parseCount(value); !ok {
			return "the burst must be a whole number from 1"
		}
	case "priority":
		if g.Priority, ok = parseCount(value); !ok || g.Priority > mostPriority {
			return "the priority must be a whole number from 1 to 1000"
		}
	case "in-flight":
		if g.InFlight, ok = parseCount(value); !ok {
			return "the number in flight must be a whole number from 1"
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
		return "an attribute is unknown: use quota= or cost=, zone=, rate=, burst=, in-flight=, priority=, plan= and name=, or a quota alone"
	}
	return ""
}

func (g Grant) applyDefaults() Grant {
	if g.Period != "" && g.Zone == nil {
		g.Zone = time.UTC
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

func parseQuota(text string) (q Quota, p Period, ok bool) {
	if text == "unlimited" {
		return Unlimited, "", true
	}
	number, p, ok := cutPeriod(text)
	n, err := strconv.ParseInt(number, 10, 64)
	return Quota(n), p, ok && err == nil && n >= 0
}

// cutPeriod cuts the period off an amount such as "5000/day"; ok is false for an unknown period.
func cutPeriod(text string) (amount string, p Period, ok bool) {
	amount, unit, has := strings.Cut(text, "/")
	p = Period(unit)
	return amount, p, has == p.known()
}

func parseRate(text string) (Rate, bool) {
	number, unit, _ := strings.Cut(text, "/")
	windows := map[string]time.Duration{"": time.Second, "s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour}
	n, ok := parseCount(number)
	return Rate{n, windows[unit]}, ok && windows[unit] > 0
}

// parseCount parses a number from 1 to a billion.
func parseCount(text string) (int, bool) {
	n, err := strconv.Atoi(text)
	return n, err == nil && n >= 1 && n <= 1e9
}

// isLabel reports whether text can be written to logs and metrics without quoting.
func isLabel(text string) bool { return isPlain(text, "._@-", 64) }
