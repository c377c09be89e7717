// Package fair shares a scarce resource among accounts, such as the API keys of a team.
//
// A [Queue] is a weighted fair queue over accounts (start-time fair queueing). Each account has a queue in order of arrival and
// a virtual time. The next item is from the account with the lowest virtual time, which then advances by 1/priority. So
// accounts that always have items waiting get shares in proportion to their priorities, whatever the number of items. An
// account that was idle starts at the virtual time of the account that was served last: idle time earns nothing.
//
// [Places] are a number of places that requests hold for a while. Requests wait for them in a Queue.
package fair

import "slices"

// Account is the owner of items. Accounts are compared with ==.
type Account interface {
	Priority() int // 1 or more
}

// account is an Account and its waiting items.
type account[T comparable] struct {
	owner   Account
	waiting []T     // in order of arrival
	virtual float64 // time: items divided by the priority
	weight  int     // the priority when the first of the waiting items came
}

// Queue is a weighted fair queue. It is not safe for concurrent use. The zero value is empty.
type Queue[T comparable] struct {
	accounts map[Account]*account[T]
	active   []*account[T] // accounts with waiting items; so few that a search for the next costs less than a heap
	virtual  float64       // virtual time of the account that was served last, before it advanced
	weights  int           // the sum of the weights of active accounts
	length   int
}

func (q *Queue[T]) account(owner Account) *account[T] {
	a, ok := q.accounts[owner]
	if !ok {
		if q.accounts == nil {
			q.accounts = map[Account]*account[T]{}
		}
		a = &account[T]{owner: owner}
		q.accounts[owner] = a
	}
	return a
}

// Len is the number of items.
func (q *Queue[T]) Len() int { return q.length }

// Waiting is the number of an account's items.
func (q *Queue[T]) Waiting(owner Account) int { return len(q.account(owner).waiting) }

// Share is the share of an account among the accounts that have items waiting, from 0 to 1.
func (q *Queue[T]) Share(owner Account) float64 {
	a, weights := q.account(owner), q.weights
	weight := a.weight
	if len(a.waiting) == 0 {
		weight = owner.Priority()
		weights += weight
	}
	return float64(weight) / float64(weights)
}

// Push adds an item of an account.
func (q *Queue[T]) Push(owner Account, item T) {
	a := q.account(owner)
	if len(a.waiting) == 0 {
		a.virtual, a.weight = max(a.virtual, q.virtual), owner.Priority()
		q.active = append(q.active, a)
		q.weights += a.weight
	}
	a.waiting = append(a.waiting, item)
	q.length++
}

// Pop takes the next item; false if there is none.
func (q *Queue[T]) Pop() (item T, ok bool) { return q.PopOf(func(Account) bool { return true }) }

// PopOf takes the next item of the accounts that may have one.
func (q *Queue[T]) PopOf(may func(Account) bool) (item T, ok bool) {
	var next *account[T]
	for _, a := range q.active {
		if (next == nil || a.virtual < next.virtual) && may(a.owner) {
			next = a
		}
	}
	if next == nil {
		return item, false
	}
	q.virtual = max(q.virtual, next.virtual)
	item = next.waiting[0]
	q.cut(next, 0)
	q.Count(next.owner)
	return item, true
}

// Remove removes an item of an account, whose virtual time does not advance.
func (q *Queue[T]) Remove(owner Account, item T) {
	a := q.account(owner)
	if i := slices.Index(a.waiting, item); i >= 0 {
		q.cut(a, i)
	}
}

func (q *Queue[T]) cut(a *account[T], i int) {
	if i == 0 {
		var none T
		a.waiting[0] = none
		a.waiting = a.waiting[1:]
	} else {
		a.waiting = slices.Delete(a.waiting, i, i+1)
	}
	q.length--
	if len(a.waiting) == 0 {
		q.active = slices.DeleteFunc(q.active, func(other *account[T]) bool { return other == a })
		q.weights -= a.weight
	}
}

// Count advances the virtual time of an account for an item that did not pass through the queue.
func (q *Queue[T]) Count(owner Account) {
	q.account(owner).virtual += 1 / float64(owner.Priority())
}
