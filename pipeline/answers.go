package pipeline

import (
	"context"
	"errors"
	"iter"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/reader"
)

// Answer is the answer to a record in one classification.
type Answer struct {
	Record  reader.Record
	Entries []client.Entry // in the order of the service
	Err     error          // why there is no answer: see [Each]
}

// Answers runs a session, and yields the answer to each record, in the order of the records and once for each of the
// classifications. The sequence ends after a yielded error, which is the error of the session. Answers of the service are
// stored, so that a second sequence with the same store and the same records asks only for the rest. The same holds after a
// break of the loop, which waits for the requests in flight as the end of ctx does. Options are those of [Open], without Each;
// Output may be zero.
func Answers(ctx context.Context, options Options) iter.Seq2[Answer, error] {
	return func(yield func(Answer, error) bool) {
		if options.Each != nil {
			yield(Answer{}, &OptionError{Option: "Each", Err: errors.New("the answers are yielded: leave the function out")})
			return
		}
		ctx, stop := context.WithCancel(ctx)
		answers, ended := make(chan Answer), make(chan error, 1)
		defer func() {
			stop()
			for range answers { // until the session has ended
			}
		}()
		own := options
		own.Each = func(record reader.Record, entries []client.Entry, err error) error {
			select {
			case answers <- Answer{record, entries, err}:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		go func() {
			defer close(answers)
			session, err := Open(ctx, own)
			if err == nil {
				_, err = session.Run(ctx)
				err = errors.Join(err, session.Close())
			}
			ended <- err
		}()
		for answer := range answers {
			if !yield(answer, nil) {
				return
			}
		}
		if err := <-ended; err != nil {
			yield(Answer{}, err)
		}
	}
}
