// Package cascade lets a model answer for nothing where it is sure, and has the hosted service asked for everything
// else. A random sample of the free answers is asked, too: the audit. It shows how often the service agrees with the
// model.
//
// # Agreement
//
// The service agrees with a free answer if its first category is that of the model. A rejection and an answer without a
// category disagree. The bound of an audit is the one-sided lower bound of Clopper and Pearson of the share of the
// requests to which the service agrees, when n of them are a random sample and x of these disagree. The bound is for a
// sample of an infinite number of requests, and so a little too low.
//
// # Steps
//
// A plan has up to five thresholds. The first is the lowest confidence from which on the lower bound of the
// cross-validation of the model reaches the wanted precision. At the others about 75%, 50%, 25% and 10% of the requests
// of the first remain. The run begins at the first step. An audit has failed if so many requests of its sample disagree
// that the bound is below the precision, whatever the outcomes of the others are. The run then goes on at the next step
// whose audit has not failed. After the last step nothing is free.
//
// A run computes a bound for each step that it reaches, five at most, and states the last. With a probability of 95% all of
// these bounds are right: the bound of the first step is wrong with a probability of 2.5% at most, that of the second with
// 1.25%, and so on. So the level of the first bound is 97.5%, and that of the fifth 99.84%.
//
// # Sample
//
// A request has a hash, which looks random and depends on the plan and on the request alone. The sample of a step is
// the requests that the model is sure about at this step, and whose hash is not above a cut. The cut gives the share of
// the audit, or 300 requests if that is more. With a precision above 95% it gives more than 300, such as 1,500 for 99%,
// so that a few answers may differ. The cuts rise with the steps: a request that was asked for the sample of a step is in
// the samples of all further steps at which the model is sure about it. Steps whose sample would be all requests are
// left out, for nothing would be free there.
//
// The requests of a plan have no stored answer when the plan is made: a model may be learned from stored answers, and
// agrees with these.
//
// # Plans
//
// A plan is for one set of requests. The plan is a note in the store, and precedes the first request. A run that is started
// again over the same requests, after a kill or when it is complete, reads the input, counts the outcomes of the samples that
// are stored since, and so finds the step again. Whether an audit fails does not depend on the order of the outcomes. So
// the same requests are free at the end, however often the run was interrupted.
//
// A run over other requests, such as the list of the next night, makes a plan of its own, and so does a run with another model,
// precision or audit, and one for which the plan is older than stored answers may be. The audit of a new plan counts no
// outcome of an earlier plan: the service may have changed since. What was asked then is a stored answer, which is neither free
// nor in the sample. A plan has hashes of its own: by those of the plan before, whose sample is answered, requests that are new
// would be in the sample more often than the others. An offline run makes no plan; without that of its requests nothing is free.
package cascade
