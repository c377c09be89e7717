package embedded

import (
	"bufio"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync/atomic"
)

// Quota is how many answers a key is good for, or Unlimited.
type Quota int64

// Unlimited is the quota of a key that is never used up.
const Unlimited Quota = -1

// ErrNoKeys is a file of API keys without a key, which would let everyone in.
var ErrNoKeys = errors.New("there is no API key; put one on a line of its own")

// KeyError is a line of a file of API keys that cannot be used. It never holds
// the key.
type KeyError struct {
	Line    int // counted from 1
	Problem string
}

func (e *KeyError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Problem) }

// LoadKeys reads API keys, one a line, each optionally followed by white space
// and its quota. Empty lines and lines that start with # are skipped. Its errors
// are *KeyError, ErrNoKeys, or those of r.
func LoadKeys(r io.Reader) (map[string]Quota, error) {
	keys := map[string]Quota{}
	lines := bufio.NewScanner(r)
	number := 0
	for lines.Scan() {
		number++
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || line[0] == '#' {
			continue
		}
		key, quota, problem := parseKey(line)
		if _, ok := keys[key]; ok && problem == "" {
			problem = "the key stands on an earlier line too; remove one of them"
		}
		if problem != "" {
			return nil, &KeyError{Line: number, Problem: problem}
		}
		keys[key] = quota
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, &KeyError{Line: number + 1, Problem: "the line is too long for a key"}
	case err != nil:
		return nil, err
	case len(keys) == 0:
		return nil, ErrNoKeys
	}
	return keys, nil
}

func parseKey(line string) (key string, quota Quota, problem string) {
	fields := strings.Fields(line)
	key, quota = fields[0], Unlimited
	for _, c := range []byte(key) {
		if c <= ' ' || c >= 0x7f {
			return key, 0, "the key has a character that no HTTP header carries; use printable ASCII"
		}
	}
	switch len(fields) {
	case 1:
		return key, quota, ""
	case 2:
		n, err := strconv.ParseInt(fields[1], 10, 64)
		if err != nil || n < 0 {
			return key, 0, "after the key stands no quota, a whole number from 0"
		}
		return key, Quota(n), ""
	}
	return key, 0, "there is more than a key and a quota"
}

// accounts are the keys in use, by digest: how long a search takes says nothing
// about how much of a key was right.
type accounts map[[sha256.Size]byte]*account

// account is what is left of one key's quota. It lives as long as the Service.
type account struct {
	unlimited bool
	remaining atomic.Int64
}

// anyone is the account of a service without keys.
var anyone = &account{unlimited: true}

func newAccounts(keys map[string]Quota) accounts {
	all := accounts{}
	for key, quota := range keys {
		a := &account{unlimited: quota == Unlimited}
		a.remaining.Store(max(int64(quota), 0))
		all[sha256.Sum256([]byte(key))] = a
	}
	return all
}

// find returns the account of a key, and whether there is one.
func (all accounts) find(key string) (*account, bool) {
	if len(all) == 0 {
		return anyone, true
	}
	a, ok := all[sha256.Sum256([]byte(key))]
	return a, ok
}

func (a *account) isUsedUp() bool { return !a.unlimited && a.remaining.Load() <= 0 }

// take uses up one answer, and reports whether there was one left.
func (a *account) take() bool {
	if a.unlimited {
		return true
	}
	for {
		left := a.remaining.Load()
		if left <= 0 {
			return false
		}
		if a.remaining.CompareAndSwap(left, left-1) {
			return true
		}
	}
}

func (a *account) appendUsage(b []byte) []byte {
	b = append(b, `{"plan":"embedded","remaining":"`...)
	if a.unlimited {
		b = append(b, "unlimited"...)
	} else {
		b = strconv.AppendInt(b, a.remaining.Load(), 10)
	}
	return append(b, `"}`...)
}
