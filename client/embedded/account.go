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

// digest stands for a key wherever one is looked up or written down.
type digest [sha256.Size]byte

func digestOf(key string) digest { return sha256.Sum256([]byte(key)) }

func (d digest) String() string { return hex.EncodeToString(d[:]) }

// accounts are the keys in use, by digest: how long a search takes says nothing
// about how much of a key was right.
type accounts map[digest]*account

// account is what one key is good for, and what it has used.
type account struct {
	name  string
	usage []byte // the answer to usage up to the number that is left
	quota int64  // Unlimited, or from 0
	limit *limiter
	used  atomic.Int64 // answers
}

// newAccounts opens the accounts of all keys, with what the journal says they
// have used.
func newAccounts(o Options) accounts {
	all := accounts{}
	for key, quota := range o.Keys {
		all[digestOf(key)] = newAccount(Grant{Key: key, Quota: quota})
	}
	for _, grant := range o.Grants {
		all[digestOf(grant.Key)] = newAccount(grant)
	}
	if o.Journal != nil {
		for d, a := range all {
			a.used.Store(o.Journal.used[d])
		}
	}
	return all
}

func newAccount(g Grant) *account {
	g = g.applyDefaults()
	a := &account{
		name:  strings.ToValidUTF8(g.Name, "?"), // metrics take nothing else
		quota: max(int64(g.Quota), int64(Unlimited)),
		limit: newLimiter(g.Rate, g.Burst),
	}
	a.usage = append(a.usage, `{"plan":`...)
	a.usage = append(a.usage, marshal(g.Plan)...)
	a.usage = append(a.usage, `,"remaining":"`...)
	return a
}

// anyone is the account of a service without keys. Nobody asks what it has used.
func anyone() *account { return newAccount(Grant{Name: "anyone", Quota: Unlimited}) }

// byName gives the accounts in an order that does not change.
func (all accounts) byName() []*account {
	return slices.SortedFunc(maps.Values(all), func(a, b *account) int { return strings.Compare(a.name, b.name) })
}

// remaining is what is left of a quota; it is 0 where a smaller one was set
// after more had been used.
func (a *account) remaining() int64 { return max(0, a.quota-a.used.Load()) }

func (a *account) isUnlimited() bool { return a.quota == int64(Unlimited) }

func (a *account) isUsedUp() bool { return !a.isUnlimited() && a.remaining() == 0 }

// take uses up one answer, and reports whether there was one left.
func (a *account) take() bool {
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

func (a *account) appendUsage(b []byte) []byte {
	b = append(b, a.usage...)
	if a.isUnlimited() {
		b = append(b, "unlimited"...)
	} else {
		b = strconv.AppendInt(b, a.remaining(), 10)
	}
	return append(b, `"}`...)
}
