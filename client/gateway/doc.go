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
//	admit: rate, quota and queue of the key, state of the upstream -> 402, 429, 502
//	fair queue: the order of the keys   -> client/limits: a permit -> one attempt
//	failed?                             -> parked, and asked again
//	commit: answers and charges are synced together, many calls at once -> all waiting requests are answered
//
// # Fair shares
//
// The queue of first attempts is a weighted fair queue over keys: see package fair. So keys that always have requests waiting get
// shares in proportion to their priorities, whatever number of requests each sends. An attempt of a retry counts, too, so that
// failing inputs slow down their own key only. A key may queue the requests of ten seconds of its share; further requests get
// 429.
//
// # Retries
//
// Only the gateway repeats attempts at the upstream. A client that gives up waiting and asks again joins the call, which goes on
// without waiting requests, or finds the answer in the store. A call that ends without an answer after all attempts is remembered
// for a minute: retries of clients get the same failure (502), and the upstream is not asked. A refusal (429, 402, 502) starts no
// call.
//
// # The state of the upstream
//
// A [State] follows from the limits (limited, out, spent) and from the replies of the usage operation (blocked). When the
// upstream begins to refuse, the calls that wait for an attempt end with the refusal, and so do calls that come back from an
// attempt without an answer. Requests are refused until the usage operation, or one call that is admitted as a test, shows that
// the upstream serves again. During a refusal of less than ten seconds, requests wait.
//
// # Rejections
//
// A rejection is answered at once. It is stored only after the upstream has answered a request that was sent later: an upstream
// that rejects everything is misconfigured.
package gateway
