// Package gateway serves the Categorization Service interface to a team, and asks an upstream service
// for the answers that the store does not have. All colleagues share one upstream key, one rate, one
// quota and one store.
//
// # Terms
//
//   - Upstream: the hosted service that the gateway asks with its own API key.
//   - Hit: the store has the answer. Miss: the upstream is asked. Join: an equal request is being
//     asked, and both requests get its answer. The response header X-Cache names the case.
//   - Call: a request that is being asked, with all its attempts. The call belongs to the key that
//     asked first: a paid answer is charged to that key, and other keys join for nothing.
//
// # One call
//
//	lookup: stored and young enough?    -> hit
//	join: an equal call?              -> wait for it
//	admit: rate, quota and queue of the key, quota and outage of the upstream -> 402, 429, 503
//	fair queue: the order of the keys   -> client/limits: a permit -> one attempt
//	failed?                             -> parked, and asked again
//	commit: the store and the ledger are synced, many calls at once -> all waiting requests are answered
//
// # Fair shares
//
// The queue of first attempts is a weighted fair queue over keys (start-time fair queueing). Each key
// has a queue in order of arrival and a virtual time. The next attempt goes to the key with the lowest
// virtual time, which then advances by 1/priority. So keys that always have requests waiting get shares
// in proportion to their priorities, whatever number of requests each sends. A key that was idle starts
// at the virtual time of the key that was served last: it has saved up nothing and owes nothing. An
// attempt of a retry advances the virtual time of its key, too, so that failing inputs slow down their
// own key only. A key may queue the requests of ten seconds of its share; further requests get 429.
//
// # Retries
//
// Only the gateway repeats attempts at the upstream. A client that gives up waiting and asks again joins
// the call, which goes on without waiting requests, or finds the answer in the store. A call that
// ends without an answer after all attempts is remembered for a minute: retries of clients get the same
// failure (502), and the upstream is not asked. A refusal (429, 402, 503) starts no call.
//
// # Rejections
//
// A rejection is answered at once. It is stored only after the upstream has answered a request that was
// sent later: an upstream that rejects everything is misconfigured.
package gateway
