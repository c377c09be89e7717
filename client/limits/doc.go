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
//   - Refusal: the service says that the caller asks too much (429). It is about the rate, or about the number in flight.
//   - Failure: anything else that may pass (5xx, a reset, a time-out, an HTML page). It has nothing to do with the rate,
//     unless a test shows that it has.
//   - Cut: a lower rate, or a lower number in flight, after refusals.
//   - Served: the highest rate that was kept for a while without a cut. Refused: the rate at the last cut.
//   - Doubt: nothing has succeeded for a while, and one request is sent at a time. An outage is a
//     doubt in which these requests fail, too. A service that rejects one input after another is
//     suspected ([Controller.Suspect]): only a request that was answered before ends such a doubt.
//   - Trip: a total refusal. No request that is sent after the first refused one is admitted. The run is silent, and
//     probes with single requests at growing distances.
//   - Phase: the time from one silence to the next.
//   - Window: a number of requests in a time, which the service states or which two trips in a row have shown. The
//     run uses the whole window at once and is silent until its end.
//   - Limited: the state of a service that refuses everything after a trip, or whose window is used up.
//
// # What a signal means
//
// Refusals make cuts (pressure.go). If three cuts in a row have halved the rate and changed nothing, as when one of
// several backends refuses everything, the share of refusals is taken for another cause's for a while.
//
// Failures make none (faults.go). Each service has a usual share of them. If the share rises, by a likelihood ratio that
// chance does not explain, the rate is halved for a moment: if the failures do not become fewer, the new share is the
// usual one. If they do, the rate returns, and only if they then become more again, failures count as refusals from then
// on. A service that has ever refused a request has no reason to limit by other means.
//
// If only retries are left and all are refused, a request that was answered before is repeated. If it is answered, the
// inputs are the cause, and their refusals count as failed attempts.
//
// # The rate and the number in flight
//
// Without a refused rate the rate doubles in two round trips. After a cut it is a little less than what was admitted, and
// halves the distance to the refused rate again and again, as BIC does (pace.go). It passes the refused rate when the
// cut, which has cost refusals or silence, is a small share of the time since.
//
// The number in flight follows from the rate: rate times latency. Three bounds limit it (flight.go). It begins low, and
// grows with the answers that did not wait, again after each doubt. If admitted and refused requests differ cleanly by the number in flight, that number is the
// limit. And if the latency becomes a multiple of that of an idle service, requests wait in the service, and no more than
// a few seconds of work may.
//
// # Families of limiters
//
// A refusal comes early, an answer may take long. What is admitted is therefore counted from the requests that were sent
// and not refused ([counter], [phase]), so that one service is paced alike at any latency.
//
//   - Buckets, leaky buckets and windows of up to a second serve a rate, and refuse the rest (pressure.go, pace.go).
//   - Limits of connections refuse when many requests are in flight (flight.go).
//   - Blocks refuse everything for a while after a rate is exceeded, and each request may prolong them. The run is
//     silent, and then stays under the rate before the trip; a step towards that rate is made only once it has gained
//     twice what another block would cost (trip.go).
//   - Windows refuse everything when their number is used up. Two trips after the same number at different rates show a
//     window, or the service states it: the run uses the window at once, and is silent until its end, which is found by
//     bisection (window.go).
//   - Limits that count refused requests behave as one of these, but continued requests keep them closed: the silence
//     is what opens them.
//
// An outage in which the service does not respond says nothing about limits: what was known before the first failure is
// restored after it. A rate that was served is kept for the next run ([Learned]), which begins with it and tries a higher
// one at once.
//
// # Failures and records
//
// A failure counts against its record if the service has answered any request after it. A failure
// in a doubt or an outage counts against no record. If a record has no attempt left, and nothing else is to be sent that
// could tell, its caller may want a proof ([Queue].Proof): the service tells its quota, or answers a request again that it
// answered before. Without either, only the retries can tell, and the service is out until one is answered.
package limits
