// Package limits decides when a run may send a request, and what a failed attempt means. A
// [Controller] controls the rate, the number of attempts in flight, the share of retries, outages
// and the requests that the run may spend. It computes from the times that its caller passes: it
// starts no goroutine, reads no clock and does not know HTTP.
//
// # Use
//
// The caller asks [Controller.Next] what to do. If the decision is to send, the caller makes the
// attempt and returns the [Permit] with the attempt's [Result] ([Controller.End]). If the
// decision is to ask for the quota, the caller asks the service and passes the answer to
// [Controller.ReportQuota].
//
// # Terms
//
//   - First attempt: the first attempt of a request. Its failure says more about the service than
//     the failure of a retry, whose input may be the cause.
//   - Pressure: failures that fewer requests may avoid: refusals (429), and failures with several
//     possible causes (5xx, a reset, a time-out, an HTML page).
//   - Ceiling: the rate at which the controller last met pressure.
//   - Background: the share of first attempts that fails at any rate.
//   - Doubt: nothing has succeeded for a while, and one request is sent at a time. An outage is a
//     doubt in which these requests fail, too. A service that rejects one input after another is
//     suspected ([Controller.Suspect]): only a request that was answered before ends such a doubt.
//   - Trip: a total refusal. No request that is sent after the first refused one is admitted. The run is silent, and
//     probes with single requests at growing distances.
//   - Phase: the time from one silence to the next.
//   - Window: a number of requests in a time, which the service states or which two trips in a row have shown. The
//     run uses the whole window at once and is silent until its end.
//   - Limited: the state of a service that refuses everything after a trip, or whose window is used up.
//   - Experiment: one or more cuts of the rate, and what they do to the share of failures.
//
// # The rate and the number in flight
//
// The controller follows TCP's congestion control. Without pressure the rate doubles in every round trip. After
// pressure it falls to the rate that the service has served (the rate times the share that did not fail, or the
// admitted requests of the last seconds), stays there for a while, and then grows as in CUBIC: slowly near the ceiling,
// and faster the longer no pressure follows. Refusals have a price: the rate grows when the refusals and the silence of
// the last cut are a small share of the time since, and in smaller steps the more a cut costs.
//
// Real servers use one status for several causes, so every cut is also an experiment. If the
// failures become fewer, the rate was the cause. If two cuts in a row leave the share of failures
// unchanged, inputs or the service are the cause: the share becomes the background, the rate
// returns to its earlier value, and only a higher share counts as pressure.
//
// The number in flight follows from the rate: rate times latency. Two bounds limit it. After
// pressure it may not exceed the number at which attempts succeed, if more attempts were in flight at failures, which
// finds a limit of connections. And it may not exceed twice the served rate times the latency of an idle
// service, which keeps requests from queueing in the service.
//
// # Families of limiters
//
// A refusal comes early, an answer may take long. What is admitted is therefore counted from the requests that were sent
// and not refused ([counter], [phase]), so that one service is paced alike at any latency.
//
//   - Buckets, leaky buckets and windows of up to a second serve a rate, and refuse the rest. The pressure finds the rate
//     (pressure.go, pace.go).
//   - Limits of connections refuse when many requests are in flight. The number in flight is cut, and not the rate
//     (crowded and cutInFlight in pressure.go, concurrency.go).
//   - Blocks refuse everything for a while after a rate is exceeded, and each request may prolong them. The run is
//     silent, and then stays just under the rate before the trip (trip.go).
//   - Windows refuse everything when their number is used up. Two trips after the same number show a window, or the
//     service states it: the run uses the window at once, and is silent until its end, which is found by bisection
//     (window.go).
//   - Limits that count refused requests behave as one of these, but continued requests keep them closed: the silence
//     is what opens them.
//
// An outage in which the service does not respond says nothing about limits: what was known before the first failure is
// restored after it. What was learned is kept for the next run ([Learned]).
//
// A controller that follows the gradient of the latency needs neither refusals nor experiments,
// but it does not see a token bucket, which refuses at the same latency. A controller that
// compares the served rates of two sending rates (PCC) needs as many attempts for every step, all
// the time, as an experiment needs once.
//
// # Failures and records
//
// A failure counts against its record if the service has answered any request after it. A failure
// in a doubt or an outage counts against no record.
package limits
