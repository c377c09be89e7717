// Package ask sends the requests of a run or a gateway to a service. The run or the gateway is the [Front] of a [Dispatcher].
//
// # One request
//
//	Front.Waiting      which requests wait for their first attempt?
//	Parked.Decide      which requests wait for a retry? Does the failure of each count?
//	limits.Next        the permit for one attempt
//	Front.Send         a goroutine for the attempt
//	Attempts.Begin     one attempt: client.Attempter
//	Attempts.Fail      failed? Parked until the next attempt is due
//	Rejected.Hold      rejected? Held until an answer confirms the rejection
//	Groups             answered, or confirmed: committed with others, by one fsync
//
// A request is one allocation of the front, which embeds [Attempts]. The front has the order of first attempts, the
// goroutines, the counters and the log: a run asks in input order, a gateway in a fair order of its keys. What is known of the
// service is a [client.Standing].
//
// # Failures
//
// A failed attempt counts if the service has answered since (see package limits). The next attempt of a request is due after the
// wait of the retry policy; only then is it decided whether the failure counts. A request whose attempts are used up is parked as
// well, until an answer shows that the service works: only then has the request failed. If no other request is left that could
// show this, the controller tests the service: see limits.Queue.
//
// # Rejections
//
// A rejection is about the input if the service has answered a request that was sent later. Until then the service may
// reject everything, because a setting is wrong or a proxy is in the way, and the rejection is not stored. A rejection that
// another server may have sent, such as a page of a proxy, is repeated first: see [Judge].
package ask
