package embedded

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// digest replaces an API key in lookups and in files.
type digest [sha256.Size]byte

func digestOf(key string) digest { return sha256.Sum256([]byte(key)) }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// apiKeys are the accepted keys by digest: the time of a lookup does not depend on how many
// characters of a wrong key are right.
type apiKeys map[digest]*Key

// Key is an accepted key: its quota, its rate and the answers that it has used.
type Key struct {
	name     string
	priority int
	plan     []byte // the body of the usage operation up to the number of answers left
	quota    int64  // answers; Unlimited, or 0 and more
	period   Period
	zone     *time.Location
	limit    *limiter

	mu       sync.Mutex
	used     usage
	reserved int64 // answers that a Backend has been asked for; it charges or releases them

	begins, ends time.Time // of the present period; zero if not known yet
}

// usage is what a key has used of its quota.
type usage struct {
	answers int64
	last    int64 // when the last of them was charged, in Unix seconds; 0 if unknown
}

// Name is the name of the grant, for logs and metrics.
func (a *Key) Name() string { return a.name }

// Priority is the share of the key in relation to the shares of other keys; 1 or more.
func (a *Key) Priority() int { return a.priority }

// Admit applies the rate of the key to one request. If the request comes too early, it returns the
// time until a request may pass.
func (a *Key) Admit() (wait time.Duration, ok bool) {
	if problem := a.limit.admit(http.Header{}); problem != nil {
		return problem.Wait, false
	}
	return 0, true
}

// Reserve sets one answer of the quota aside. It returns false if none is left. The caller charges
// or releases each reserved answer.
func (a *Key) Reserve() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	if !a.isUnlimited() && a.used.answers+a.reserved >= a.quota {
		return false
	}
	a.reserved++
	return true
}

// Release gives a reserved answer back.
func (a *Key) Release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.reserved--
}

// Charge uses up a reserved answer.
func (a *Key) Charge() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	a.reserved--
	a.used.answers++
	a.used.last = time.Now().Unix()
}

// Refill is the time until the quota begins anew; 0 if it does not.
func (a *Key) Refill() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn(); a.period == "" {
		return 0
	}
	return time.Until(a.ends)
}

// turn begins a new period if the present one is over, or if the clock was set back. Answers of an unknown time count in the
// present period. The caller holds mu.
func (a *Key) turn() {
	now := time.Now()
	if a.period == "" || now.Before(a.ends) && !now.Before(a.begins) {
		return
	}
	a.begins, a.ends = a.period.bounds(now.In(a.zone))
	if a.used.last != 0 && a.used.last < a.begins.Unix() {
		a.used = usage{}
	}
	a.used.last = min(a.used.last, now.Unix())
}

// usage is what the key has used by now.
func (a *Key) usage() usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	return a.used
}

// newAPIKeys returns the keys of the options, with the used quota from the ledger.
func newAPIKeys(o Options) apiKeys {
	all := apiKeys{}
	for key, quota := range o.Keys {
		all[digestOf(key)] = newAPIKey(Grant{Key: key, Quota: quota, Plan: o.Plan})
	}
	for _, grant := range o.Grants {
		grant.Plan = cmp.Or(grant.Plan, o.Plan)
		all[digestOf(grant.Key)] = newAPIKey(grant)
	}
	if o.Ledger != nil {
		for d, a := range all {
			a.used = o.Ledger.used[d]
		}
	}
	return all
}

func newAPIKey(g Grant) *Key {
	g = g.applyDefaults()
	a := &Key{
		name:     strings.ToValidUTF8(g.Name, "?"), // metrics need valid UTF-8
		priority: max(1, g.Priority),
		quota:    max(int64(g.Quota), int64(Unlimited)),
		period:   g.Period,
		zone:     g.Zone,
		limit:    newLimiter(g.Rate, g.Burst),
	}
	a.plan = append(a.plan, `{"plan":`...)
	a.plan = append(a.plan, marshal(g.Plan)...)
	a.plan = append(a.plan, `,"remaining":"`...)
	return a
}

// anonymous is the key of all requests to a service without keys.
func anonymous(plan string) *Key {
	return newAPIKey(Grant{Name: "anyone", Quota: Unlimited, Plan: plan})
}

// byName returns the keys sorted by name.
func (all apiKeys) byName() []*Key {
	return slices.SortedFunc(maps.Values(all), func(a, b *Key) int { return strings.Compare(a.name, b.name) })
}

// remaining is the number of answers left. It is 0 if the quota was lowered below the answers
// used.
func (a *Key) remaining() int64 { return max(0, a.quota-a.usage().answers) }

func (a *Key) isUnlimited() bool { return a.quota == int64(Unlimited) }

func (a *Key) isUsedUp() bool { return !a.isUnlimited() && a.remaining() == 0 }

// take uses up one answer, and returns false if none was left.
func (a *Key) take() bool {
	if !a.Reserve() {
		return false
	}
	a.Charge()
	return true
}

// appendUsage appends the body of the usage operation; with none, no answer is left to any key.
func (a *Key) appendUsage(b []byte, none bool) []byte {
	b = append(b, a.plan...)
	switch {
	case none:
		b = append(b, '0')
	case a.isUnlimited():
		b = append(b, "unlimited"...)
	default:
		b = strconv.AppendInt(b, a.remaining(), 10)
	}
	return append(b, `"}`...)
}
