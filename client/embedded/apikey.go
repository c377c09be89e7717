package embedded

import (
	"cmp"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// salt makes the digests of API keys differ between stores: a table of digests does not reveal a key.
type salt [16]byte

func newSalt() (s salt) {
	_, _ = rand.Read(s[:]) // never fails
	return s
}

// digest stands for an API key in lookups and in files.
type digest [sha256.Size]byte

// digest is the HMAC-SHA256 of a key.
func (s salt) digest(key string) digest {
	mac := hmac.New(sha256.New, s[:])
	mac.Write([]byte(key))
	return digest(mac.Sum(nil))
}

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// keyring has the keys of a service. The grants can be replaced while requests run.
type keyring struct {
	salt     salt
	plan     string // of keys without a plan of their own
	ledger   *Ledger
	open     bool                            // no key is needed
	accepted atomic.Pointer[map[digest]*Key] // by digest: the time of a lookup tells nothing about the characters of a key

	mu    sync.Mutex
	known map[digest]*Key // includes keys that were removed: answers to their requests in flight are still charged
}

func newKeyring(o Options) *keyring {
	k := &keyring{plan: o.Plan, ledger: o.Ledger, open: len(o.Grants) == 0, known: map[digest]*Key{}}
	if o.Ledger != nil {
		k.salt = o.Ledger.salt
	} else {
		k.salt = newSalt()
	}
	k.set(o.Grants)
	return k
}

// set accepts the keys of the grants, and no other keys. A key that is known already keeps its used quota.
func (k *keyring) set(grants []Grant) {
	k.mu.Lock()
	defer k.mu.Unlock()
	accepted := map[digest]*Key{}
	for i, g := range grants {
		g.Name, g.Plan = cmp.Or(g.Name, numbered(i+1)), cmp.Or(g.Plan, k.plan)
		d := k.salt.digest(g.Key)
		a, ok := k.known[d]
		if !ok {
			a = &Key{digest: d}
			if k.ledger != nil {
				a.used = k.ledger.usedBy(d)
			}
			k.known[d] = a
		}
		a.grant(g)
		accepted[d] = a
	}
	k.accepted.Store(&accepted)
}

// byName returns the accepted keys sorted by name.
func (k *keyring) byName() []*Key {
	return slices.SortedFunc(maps.Values(*k.accepted.Load()), func(a, b *Key) int { return strings.Compare(a.Name(), b.Name()) })
}

// all returns all known keys.
func (k *keyring) all() []*Key {
	k.mu.Lock()
	defer k.mu.Unlock()
	return slices.Collect(maps.Values(k.known))
}

// numbered is the default name of a key. n is the number of the key in a list, or of its line in a file.
func numbered(n int) string { return fmt.Sprintf("key-%d", n) }

// Key is an API key with its grant and its usage.
type Key struct {
	digest  digest
	granted atomic.Pointer[terms]

	mu       sync.Mutex
	used     usage
	reserved int64 // answers that a Backend has reserved, and will charge or release

	begins, ends time.Time // of the present period; zero before turn
}

// terms are the grant of a key, without the key itself, and its limiter. They are immutable: a new grant replaces them.
type terms struct {
	Grant
	limit *limiter
}

// usage is the used quota of a key.
type usage struct {
	answers int64
	last    int64 // when the last answer was charged, in Unix seconds; 0 without answers
}

// grant replaces the terms. If rate and burst are unchanged, the limiter keeps its state.
func (a *Key) grant(g Grant) {
	g = g.applyDefaults()
	g.Key, g.Name = "", strings.ToValidUTF8(g.Name, "?") // metrics need valid UTF-8
	g.Priority, g.Quota = max(1, g.Priority), max(g.Quota, Unlimited)
	t := &terms{Grant: g}
	if before := a.granted.Load(); before != nil && before.Rate == g.Rate && before.Burst == g.Burst {
		t.limit = before.limit
	} else {
		t.limit = newLimiter(g.Rate, g.Burst)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.granted.Store(t)
	a.begins, a.ends = time.Time{}, time.Time{}
}

// Name is the name of the grant, for logs and metrics.
func (a *Key) Name() string { return a.granted.Load().Name }

// Priority is the weight of the key among other keys; 1 or more.
func (a *Key) Priority() int { return a.granted.Load().Priority }

// InFlight is the most requests of the key in flight; 0 for no bound.
func (a *Key) InFlight() int { return a.granted.Load().InFlight }

// Admit applies the rate of the key to one request, and sets the headers of the response. If the rate is exceeded, ok is false, and
// wait is the time until a request is admitted.
func (a *Key) Admit(h http.Header) (wait time.Duration, ok bool) {
	return a.granted.Load().limit.admit(h)
}

// Reserve reserves one answer of the quota, and returns false if none is left. The caller passes the key to [Service.Charge],
// or calls Release.
func (a *Key) Reserve() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	if t := a.granted.Load(); t.Quota != Unlimited && a.used.answers+a.reserved >= int64(t.Quota) {
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

// charge uses up a reserved answer.
func (a *Key) charge() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	a.reserved--
	a.used.answers++
	a.used.last = time.Now().Unix()
}

func chargeAll(keys []*Key) {
	for _, k := range keys {
		k.charge()
	}
}

// Refill is the time until the quota is renewed; 0 for never.
func (a *Key) Refill() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.turn(); a.ends.IsZero() {
		return 0
	}
	return time.Until(a.ends)
}

// turn begins a new period if the present period is over, or if the clock was set back. The caller holds mu.
func (a *Key) turn() {
	now, t := time.Now(), a.granted.Load()
	if t.Period == "" || now.Before(a.ends) && !now.Before(a.begins) {
		return
	}
	a.begins, a.ends = t.Period.bounds(now.In(t.Zone))
	if a.used.last < a.begins.Unix() {
		a.used = usage{}
	}
	a.used.last = min(a.used.last, now.Unix())
}

// usage is the used quota of the present period.
func (a *Key) usage() usage {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.turn()
	return a.used
}

func newAPIKey(g Grant) *Key {
	a := new(Key)
	a.grant(g)
	return a
}

// left is the number of answers left, or Unlimited. It is 0 if the quota was lowered below the answers used.
func (a *Key) left() Quota {
	quota := a.granted.Load().Quota
	if quota == Unlimited {
		return Unlimited
	}
	return max(0, quota-Quota(a.usage().answers))
}

// take uses up one answer, and returns false if none was left.
func (a *Key) take() bool {
	if !a.Reserve() {
		return false
	}
	a.charge()
	return true
}

// appendUsage appends the body of the usage operation. most is the number of answers left for all keys together.
func (a *Key) appendUsage(b []byte, most Quota) []byte {
	left := most
	if own := a.left(); own != Unlimited && (most == Unlimited || own < most) {
		left = own
	}
	body := struct {
		Plan      string `json:"plan"`
		Remaining string `json:"remaining"`
	}{a.granted.Load().Plan, "unlimited"}
	if left != Unlimited {
		body.Remaining = strconv.FormatInt(int64(left), 10)
	}
	return append(b, marshal(body)...)
}
