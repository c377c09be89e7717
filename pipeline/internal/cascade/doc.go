// Package cascade decides which requests a local model answers for free, and which the hosted service answers. The model
// answers where it is sure. The audit sends a random sample of those requests to the service, too, and counts how often the
// service agrees with the model.
//
// # Agreement
//
// The service agrees with the model if both give the same first category. A rejection and an answer without a category
// disagree. The bound of an audit is the one-sided lower Clopper–Pearson bound of the share of agreeing requests, for a random
// sample of n requests of which x disagree. The bound assumes infinitely many requests, so it is a little too low.
//
// # Steps
//
// A plan has up to five steps, each with a threshold of confidence. The first threshold is the lowest confidence from which on
// the cross-validation of the model reaches the required precision. The other thresholds keep about 75%, 50%, 25% and 10% of
// the requests of the first step. The run begins at the first step. The audit of a step fails as soon as so many requests of
// its sample disagree that the bound is below the precision even if all others agree. The run then goes on at the next step
// whose audit has not failed. After the last step no answer is free.
//
// A run computes one bound for each step that it reaches, five at most, and reports the last. All of these bounds hold with a
// probability of at least 95%: the first bound has a confidence level of 97.5%, the second of 98.75%, and the fifth of 99.84%.
//
// # Sample
//
// Each request has a hash of the plan and the request. The sample of a step is the requests above the threshold whose hash is
// at most the cut of the step. The cut selects the share of the audit, but at least 300 requests. For a precision above 95% it
// selects more, such as 1,500 for 99%, so that the bound can reach the precision although a few answers differ. The cuts rise
// from step to step. So a request in the sample of a step is in the samples of all further steps whose threshold it reaches. A
// step whose sample would be all of its requests is left out: no answer would be free.
//
// Requests that have a stored answer when the plan is made are not part of it: the model may have been trained on these
// answers, and then agrees with them.
//
// # Plans
//
// A plan is for one set of requests. The run saves it as a note in the store before the first request. A restart over the same
// requests reads the plan and counts the outcomes that were stored since, and so finds the step. The order of the outcomes does
// not matter. So the same requests are free at the end, however often the run was interrupted.
//
// A run makes a new plan if the requests, the model, the precision or the audit differ, or if the plan is older than the
// maximum age of answers. The audit of a new plan counts no outcomes of an earlier one, because the service may have changed.
// Requests that the earlier plan sent have stored answers: they are neither free nor in the sample. Each plan has its own
// hashes. With the hashes of the earlier plan, whose sample is answered, the new requests would be over-represented in the
// sample. An offline run makes no plan; if the store has none for its requests, no answer is free.
package cascade
