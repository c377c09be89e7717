package main

import (
	"context"
	"encoding/json"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
)

// cmdStored adds answers to a store.
func cmdStored(ts *testscript.TestScript, _ bool, args []string) {
	store, err := answers.Open(answers.Options{Path: ts.MkAbs(args[0]), Source: "any"})
	ts.Check(err)
	_, err = store.Import(context.Background(), func(visit func(answers.Stored) error) error {
		for line := range strings.Lines(ts.ReadFile(args[1])) {
			var a struct {
				Source, Kind, Classification, Input, Outcome string
				Status                                       int
				AnsweredAt                                   time.Time `json:"answered_at"`
				Body                                         json.RawMessage
			}
			ts.Check(json.Unmarshal([]byte(line), &a))
			o := answers.Outcome{Answer: client.Answer{AnsweredAt: a.AnsweredAt, Body: a.Body}}
			if a.Outcome == "rejection" {
				o.Rejection = &client.Error{Class: client.Rejected, Status: a.Status}
				ts.Check(json.Unmarshal(a.Body, &o.Rejection.Detail))
			}
			r := client.Request{Kind: client.Kind(a.Kind), Classification: a.Classification, Input: a.Input}
			ts.Check(visit(answers.Stored{Source: a.Source, Request: r, Outcome: o}))
		}
		return nil
	})
	ts.Check(err)
	ts.Check(store.Close())
}
