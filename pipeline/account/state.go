package account

// State is what a run is doing.
type State string

// The states of a run.
const (
	Starting   State = "starting" // nothing can be asked yet: the store is being opened, for example
	Asking     State = "asking"
	Congested  State = "congested"   // nothing has succeeded for a while, or the service asks to wait: one request is sent at a time
	Limited    State = "limited"     // the service refuses all requests for a while, and the run waits
	Outage     State = "outage"      // nothing succeeds, even with one request at a time
	QuotaPause State = "quota_pause" // the quota is used up, and the run waits
	Finishing  State = "finishing"   // no request is begun any more; outcomes are stored and rows written
	Ended      State = "ended"       // only in the journal and the status
)

// Waits are the states in which the service holds up a run.
var Waits = []State{Congested, Limited, Outage, QuotaPause}

// Cause is the reason for which a run stopped early. The run can be started again.
type Cause string

// The causes of a stop.
const (
	Interrupted    Cause = "interrupted" // the caller's context ended, or pipeline.Each returned an error
	QuotaExhausted Cause = "quota"       // the API key has no requests left
	Budget         Cause = "budget"      // the limits allow no more requests
	Deadline       Cause = "deadline"    // flow.Options.FinishBy
	OutageTooLong  Cause = "outage"      // the service was out for longer than the limits allow
	Expectation    Cause = "expectation" // it is clear that the output will not meet an expectation
)

// Ending says how a run ended: Complete, Failed, or the Cause of a stop.
type Ending string

// The endings of runs that were not stopped.
const (
	Complete Ending = "complete"
	Failed   Ending = "failed"
	Killed   Ending = "killed" // only of earlier runs: the process ended without an account
)
