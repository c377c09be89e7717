// Package limits decides when a run may ask the service, and what a failed attempt means. One
// [Controller] owns the rate, the number of attempts in flight, the share of retries, outages,
// and what the run may spend. It does arithmetic on the times that it is given: it starts no
// goroutine, reads no clock and does not know HTTP.
//
// # Use
//
// The caller asks [Controller.Next] what to do. When the answer is to send, the caller makes the
// attempt and gives the [Permit] back with what became of the attempt ([Controller.End]). When the
// answer is to ask the account, the caller asks and reports with [Controller.Told].
//
// # Terms
//
//   - A first attempt is the first for its input. Its failure says more about the service than
//     that of a retry, whose input may be to blame.
//   - Pressure is a failure that fewer requests may avoid: a refusal (429), or a failure that
//     has several causes (5xx, a reset, a time-out, a page of HTML).
//   - The ceiling is the rate at which pressure was met last.
//   - The background is the share of first attempts that fails whatever the rate is.
//   - In doubt, nothing has succeeded for a while, and one request is sent at a time. An outage is a
//     doubt in which these fail, too. A service that refuses one input after another is suspected
//     ([Controller.Suspect]): only a request that was answered before ends this doubt.
//
// # The rate and the number in flight
//
// The controller follows TCP's congestion control: while no pressure is met, the rate doubles
// with each round trip; after pressure, the rate falls to what the service has served (the
// rate times the share that did not fail), waits for a second, and then grows as in CUBIC:
// slowly near the ceiling, faster the longer nothing happens.
//
// Real servers use one status for several causes, so that a cut is also an experiment. If the
// failures become fewer, the rate was the cause. If two cuts in a row leave the share of
// failures as it was, inputs or the service are the cause: the share becomes the background,
// the rate returns to where it was, and only a higher share counts as pressure.
//
// The number in flight follows the rate: rate times latency. Two bounds hold it. After pressure
// it may not exceed what was in flight when answers came, which finds a limit of connections;
// and it may not exceed twice the served rate times the latency of a service that is not busy,
// which keeps a service that queues from being asked for more than it serves.
//
// Limits that follow the gradient of the latency alone need neither refusals nor trials, but they
// do not see a bucket, which refuses at the same latency. Controls that compare the served rate of
// two sending rates (PCC) need as many attempts for each step as a trial does, all the time.
//
// # What a failure counts
//
// A failure counts against its record when the service has answered anything after it. What
// fails in a doubt or an outage counts against no record.
package limits
