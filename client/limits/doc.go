// Package limits decides when a run may send a request, and what a failed attempt means. A [Controller] controls the rate, the
// number of attempts in flight, the share of retries, the response to outages, and the number of requests that the run spends.
// It computes from the times that its caller passes. It starts no goroutine, reads no clock and knows nothing of HTTP.
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
//   - Refusal: the service says that the caller asks too much (429). It is about the rate, or about the number in flight.
//   - Failure: any other error that may pass (5xx, a reset, a timeout, an HTML page). A failure is not about the rate, unless a test
//     shows that it is.
//   - Cut: a lower rate, or a lower number in flight, after refusals.
//   - Served rate: the highest rate that was kept for a while without a cut. Refused rate: the rate at the last cut.
//   - Doubt: nothing has succeeded for a while, and the run sends one request at a time (a probe). An outage is a doubt in
//     which the probes fail, too. A service that rejects one input after another is suspected ([Controller.Suspect]). Only the
//     answer to a request that was answered before ends that doubt.
//   - Trip: a total refusal. No request that was sent after the first refused one is admitted. The run stops sending (a
//     silence), except for probes at growing intervals.
//   - Phase: the time from one silence to the next.
//   - Window: a number of requests that the service allows in a period. The service states it, or two trips in a row show it.
//     The run uses the whole window at once and is silent until its end.
//   - Limited: the state of a service that refuses everything after a trip, or whose window is used up.
//
// # What a signal means
//
// Refusals make cuts (pressure.go). If cuts in a row have halved the rate and the share of refusals is the same, the rate is
// not the cause: perhaps one of several backends refuses everything. Refusals up to that share make no cuts for a while.
//
// Failures make no cuts (faults.go). Each service has a usual share of failures. If the share rises more than chance explains, by
// a likelihood ratio, the rate is halved as a test. If the failures do not become fewer, the new share is the usual one. If the
// failures become fewer, the rate is restored. If the failures then rise again, they count as refusals from then on. There is no
// test of a service that has refused a request: it has no reason to limit by other means. If it has refused one in an earlier run,
// most attempts must fail before a test.
//
// Inputs may be the cause if only retries are left and all are refused, or if first attempts fail in a doubt. The run then repeats
// a request that was answered before. If it is answered, another input is refused or fails, and a repeated request is answered
// again, the inputs are the cause: refusals count as failed attempts, and the run goes on at its pace.
//
// # The rate and the number in flight
//
// Before the first cut, the rate doubles in two round trips. A cut sets the rate to a little less than the admitted rate. The
// rate then halves its distance to the refused rate again and again, as BIC does (pace.go). The rate passes the refused rate when
// the cost of the cut, in refusals or silence, is a small share of the time since the cut.
//
// The number in flight is the rate times the latency, within three bounds (flight.go). At the start and after each doubt the
// bound is low, and grows with each answer that did not wait in the service. If a number in flight separates the admitted
// requests from the refused ones, that number is a bound. If the latency is a multiple of the idle latency, requests wait in
// the service, and the bound is a few seconds of work.
//
// # Families of limiters
//
// A refusal comes early, an answer may take long. Therefore a request counts as admitted as soon as it is sent, until it is
// refused ([counter], [phase]). So the pace does not depend on the latency.
//
//   - Token buckets, leaky buckets and windows of up to a second serve a rate, and refuse the rest (pressure.go, pace.go).
//   - Limits of connections refuse when many requests are in flight (flight.go).
//   - Blocks refuse everything for a while after a rate is exceeded, and each request may prolong them. The run is silent, and
//     then stays under the rate before the trip. It makes each step towards that rate only when the previous step has gained as
//     much as another block would cost (trip.go, pace.go). A first trip without an explicit refusal is taken for an outage.
//   - Windows refuse everything when their number is used up. The service states the window, or two trips after the same number
//     of requests at different rates show it. The end of the window is found by bisection (window.go).
//   - Limits that count refused requests behave as one of these, but stay closed while requests continue. Only silence opens
//     them.
//
// An outage says nothing about limits: afterwards the run restores what it knew before the first failure. The served rate is
// kept for the next run ([Learned]), which begins with it and tries a higher rate at once.
//
// # Failures and records
//
// A failure counts against its record if the service has answered any request after it. A failure in a doubt or an outage
// counts against no record. If a record has no attempt left and no other request waits, the caller may want proof that the
// service works ([Queue].Proof): the service tells its quota, or answers a repeated request. If neither is possible, the
// service counts as out until a retry is answered.
package limits
