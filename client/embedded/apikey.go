package embedded

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// digest replaces an API key in lookups and in files.
type digest [sha256.Size]byte

func digestOf(key string) digest { return sha256.Sum256([]byte(key)) }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// apiKeys are the accepted keys by digest: the time of a lookup does not depend on how many
// characters of a wrong key are right.
type apiKeys map[digest]*apiKey

// apiKey is an accepted key: its quota, its rate and the answers that it has used.
type apiKey struct {
	name  string
	usage []byte // the body of the usage operation up to the number of answers left
	quota int64  // answers; Unlimited, or 0 and more
	limit *limiter
	used  atomic.Int64 // answers
}

// newAPIKeys returns the keys of the options, with the used quota from the ledger.
func newAPIKeys(o Options) apiKeys {
	all := apiKeys{}
	for key, quota := range o.Keys {
		all[digestOf(key)] = newAPIKey(Grant{Key: key, Quota: quota})
	}
	for _, grant := range o.Grants {
		all[digestOf(grant.Key)] = newAPIKey(grant)
	}
	if o.Ledger != nil {
		for d, a := range all {
			a.used.Store(o.Ledger.used[d])
		}
	}
	return all
}

func newAPIKey(g Grant) *apiKey {
	g = g.applyDefaults()
	a := &apiKey{
		name:  strings.ToValidUTF8(g.Name, "?"), // metrics need valid UTF-8
		quota: max(int64(g.Quota), int64(Unlimited)),
		limit: newLimiter(g.Rate, g.Burst),
	}
	a.usage = append(a.usage, `{"plan":`...)
	a.usage = append(a.usage, marshal(g.Plan)...)
	a.usage = append(a.usage, `,"remaining":"`...)
	return a
}

// anonymous is the key of all requests to a service without keys.
func anonymous() *apiKey { return newAPIKey(Grant{Name: "anyone", Quota: Unlimited}) }

// byName returns the keys sorted by name.
func (all apiKeys) byName() []*apiKey {
	return slices.SortedFunc(maps.Values(all), func(a, b *apiKey) int { return strings.Compare(a.name, b.name) })
}

// remaining is the number of answers left. It is 0 if the quota was lowered below the answers
// used.
func (a *apiKey) remaining() int64 { return max(0, a.quota-a.used.Load()) }

func (a *apiKey) isUnlimited() bool { return a.quota == int64(Unlimited) }

func (a *apiKey) isUsedUp() bool { return !a.isUnlimited() && a.remaining() == 0 }

// take uses up one answer, and returns false if none was left.
func (a *apiKey) take() bool {
	if a.isUnlimited() {
		a.used.Add(1)
		return true
	}
	for {
		used := a.used.Load()
		if used >= a.quota {
			return false
		}
		if a.used.CompareAndSwap(used, used+1) {
			return true
		}
	}
}

func (a *apiKey) appendUsage(b []byte) []byte {
	b = append(b, a.usage...)
	if a.isUnlimited() {
		b = append(b, "unlimited"...)
	} else {
		b = strconv.AppendInt(b, a.remaining(), 10)
	}
	return append(b, `"}`...)
}
