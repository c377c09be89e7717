package ask

import (
	"time"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/limits"
)

// astray is the evidence about rejections that another server may have sent: see [client.Error.Astray]. One of several backends
// sends such rejections while it is replaced. Some services reject inputs in this way, too. So the request is repeated twice, after
// a while. If it is answered, such rejections pass from then on: they are failures, and the request is repeated as often as the
// retry policy allows. If mostAgreed requests in a row are rejected each time, while the service answers others, the service rejects
// inputs in this way: then only one in checkEvery requests is repeated. While mostAgreed requests wait for this
// evidence, a run pauses: if the service rejects many inputs in this way, further requests would waste its quota.
type astray struct {
	works   time.Time // when the latest answered request was sent; zero before the first answer
	passes  bool      // a repeated request was answered
	agreed  int       // requests in a row that were rejected each time, while the service answered others
	trusted int       // rejections that were believed because of agreed
	waiting int       // requests that wait to be repeated, of those since began
	began   time.Time // when the first of them was sent
}

const (
	mostAgreed = 5  // requests that show that the service rejects inputs in this way
	checkEvery = 20 // a run or a gateway may last for weeks, in which backends are replaced

	// astrayAttempts are the attempts of such a request. With two, half of the inputs that one of two backends rejects would be
	// rejected for good.
	astrayAttempts = 3

	// astrayWait is the time until a request that another server has rejected is repeated: about as long as a backend takes to start.
	astrayWait = 5 * time.Second

	mostPause = astrayAttempts * astrayWait // until there is evidence; the requests may end in other ways
)

// answered records that a request was answered.
func (s *astray) answered(sent time.Time) {
	if sent.After(s.works) {
		s.works = sent
	}
}

// pass records that such a rejection has passed.
func (s *astray) pass() { s.passes, s.agreed = true, 0 }

// pause returns how long there will be no evidence, although enough requests wait for it.
func (s *astray) pause(now time.Time) time.Duration {
	if s.passes || s.agreed >= mostAgreed || s.waiting < mostAgreed {
		return 0
	}
	return max(0, s.began.Add(mostPause).Sub(now))
}

// waits counts a request that waits to be repeated for the first time.
func (s *astray) waits(sent time.Time) {
	if sent.Sub(s.began) > mostPause {
		s.began, s.waiting = sent, 0
	}
	s.waiting++
}

// ended counts a request that waits no more.
func (s *astray) ended() { s.waiting = max(0, s.waiting-1) }

// rejected judges a rejection that another server may have sent: it returns the rejection, or a failure.
func (s *astray) rejected(a *Attempts, e *client.Error, result limits.Result, policy client.RetryPolicy) (*client.Error, limits.Result) {
	failure := *e
	failure.Class = client.Transient
	_, more := policy.Next(a.Counted(), a.refusals, &failure)
	if s.agreed >= mostAgreed {
		if s.trusted++; s.trusted%checkEvery != 0 {
			return e, result
		}
	}
	if !more || !s.passes && a.strays >= astrayAttempts-1 {
		if a.WentAstray() {
			s.ended()
			if s.works.After(a.strayed) {
				s.agreed++
				s.passes = s.passes && s.agreed < mostAgreed
			}
		}
		return e, result
	}
	if !a.WentAstray() {
		a.strayed = a.Sent
		s.waits(a.Sent)
	}
	a.strays++
	if s.passes {
		result = ResultOf(client.Answer{}, &failure)
	}
	return &failure, result // unless it passes, the result is that of a rejection: perhaps the service works
}

// WentAstray reports whether another server may have rejected the request, which was repeated.
func (a *Attempts) WentAstray() bool { return a.strays > 0 }
