package pipeline_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
)

func manyTitles(n int) (list []string) {
	for i := range n {
		list = append(list, fmt.Sprintf("title %d", i+1))
	}
	return list
}

// A loop that is left, at any answer and in any way, keeps what was paid for: the next sequence has the same answers in the same
// order, and asks for nothing twice.
func TestAnswersGoOn(t *testing.T) {
	errLeft := errors.New("the loop was left")
	for name, leave := range map[string]func(cancel context.CancelFunc) (leave bool){
		"break":              func(context.CancelFunc) bool { return true },
		"end of the context": func(cancel context.CancelFunc) bool { cancel(); return false },
		"panic":              func(context.CancelFunc) bool { panic(errLeft) },
	} {
		for _, at := range []int{1, 7, 40} {
			t.Run(fmt.Sprint(name, " at ", at), func(t *testing.T) {
				l := newLibrary(t, reader.Inputs(slices.Values(manyTitles(40))))
				l.options.Each = nil
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				var last error
				func() {
					defer func() {
						if r := recover(); r != nil && r != errLeft {
							panic(r)
						}
					}()
					for answer, err := range pipeline.Answers(ctx, l.options) {
						if last = err; err == nil && answer.Record.Number == int64(at) && leave(cancel) {
							break
						}
					}
				}()
				if stop, ok := errors.AsType[*pipeline.StopError](last); last != nil && (!ok || pipeline.EndingOf(stop) != "interrupted") {
					t.Fatal(last)
				}
				number := int64(0)
				for answer, err := range pipeline.Answers(t.Context(), l.options) {
					if err != nil || answer.Err != nil {
						t.Fatal(err, answer.Err)
					}
					if number++; answer.Record.Number != number || answer.Entries[0].Value != "About "+answer.Record.Input {
						t.Errorf("answer %d is %v to %+v", number, answer.Entries, answer.Record)
					}
				}
				if number != 40 {
					t.Errorf("%d answers", number)
				}
				for request, n := range l.asked {
					if n > 1 {
						t.Errorf("%s was asked %d times", request, n)
					}
				}
			})
		}
	}
}

// The error of a record is in its answer, and that of the session ends the sequence.
func TestAnswersErrors(t *testing.T) {
	l := newLibrary(t, reader.Inputs(slices.Values([]string{"shoe", " "})))
	l.options.Each = nil
	var got []string
	for answer, err := range pipeline.Answers(t.Context(), l.options) {
		got = append(got, fmt.Sprintf("%q %t %v", answer.Record.Input, answer.Err != nil, err))
	}
	if want := []string{`"shoe" false <nil>`, `" " true <nil>`}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	broken := errors.New("the sequence is broken")
	l.options.Input.Records = func(yield func(reader.Record, error) bool) { yield(reader.Record{}, broken) }
	var last error
	for _, err := range pipeline.Answers(t.Context(), l.options) {
		last = err
	}
	if !errors.Is(last, broken) {
		t.Error(last)
	}
	l.options.Each = l.take
	for _, err := range pipeline.Answers(t.Context(), l.options) {
		if option, ok := errors.AsType[*pipeline.OptionError](err); !ok || option.Option != "Each" {
			t.Error(err)
		}
	}
}
