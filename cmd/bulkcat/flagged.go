package main

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/statefolder"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/places"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// flagOf returns the flag of an option of a library, such as "pipeline.Output.Levels"; "" for none. Most flags have the name of
// their option.
func flagOf(option string) string {
	if flag, ok := otherNames[option]; ok {
		return flag
	}
	name := strings.ToLower(capital.ReplaceAllString(option[strings.LastIndex(option, ".")+1:], "$1-$2"))
	if isRunFlag(name) {
		return "--" + name
	}
	return ""
}

// isRunFlag reports whether runs of one of the kinds have a flag.
func isRunFlag(name string) bool {
	return slices.ContainsFunc(kinds, func(kind string) bool {
		cmd, _ := newRunCommand(streams{}, client.Kind(kind))
		return cmd.Flags().Lookup(name) != nil
	})
}

var capital = regexp.MustCompile(`([a-z])([A-Z])`)

// otherNames has the flags whose names differ from their options, and the flags of commands other than runs.
var otherNames = map[string]string{
	"pipeline.Classifications":  "--classification",
	"pipeline.Store.Path":       "--store",
	"pipeline.Free.Model":       "--free",
	"pipeline.Output.Format":    "--output-format",
	"pipeline.Expect.Against":   "--expect-against",
	"pipeline.InputColumn":      "--input-column",
	"pipeline.LabelColumn":      "--label-column",
	"pipeline.CategoryColumn":   "--category-column",
	"pipeline.ConfidenceColumn": "--confidence-column",
	"pipeline.Stored":           "--store",
	"pipeline.Stored.Source":    "--source",
	"reader.Columns":            "--column",
	"reader.Format":             "--input-format",
	"page.Mode":                 "--fetch",
	"pipeline.Input.Paths":      "the input",
	"pipeline.Output.Path":      "--output",
}

// adviceOf ends the message of an error that another value of an option may prevent.
var adviceOf = map[string]string{
	"answers.Path":        " with --store",
	"client.APIKey":       " in BULKCAT_API_KEY or --api-key-file",
	"client.BaseURL":      ": check --base-url or BULKCAT_BASE_URL",
	"client.Headers":      ", and name the file with --header-file",
	"client.Member":       ": see --member",
	"client.Timeout":      ": to wait longer, raise --timeout",
	"limits.MaxOutage":    "; the limit is --max-outage",
	"limits.MaxRequests":  ": to go on, raise --max-requests",
	"limits.Reserve":      " (--reserve)",
	"pipeline.MaxCost":    ": to go on, raise --max-cost",
	"pipeline.FinishBy":   "; to go on now, give another --finish-by, or none",
	"pipeline.Requests":   ", or use --overwrite to replace it",
	"reader.Columns":      "; name one with --column NAME",
	"reader.Dialect":      " with --dialect, such as header=N or quote=none",
	"reader.Encoding":     " with --encoding, such as windows-1252, windows-1251, shift_jis or gbk",
	"reader.ExtraColumns": "; name one with --carry NAME",
	"reader.Format":       " (--input-format)",
	"writer.Format":       "; set --output-format",
}

// advisedError is an error with the advice of its option.
type advisedError struct {
	err    error
	advice string
}

func (e *advisedError) Error() string { return e.err.Error() + e.advice }
func (e *advisedError) Unwrap() error { return e.err }

// advised adds the advice of the option that the error names, once.
func advised(err error) error {
	if _, done := errors.AsType[*advisedError](err); done {
		return err
	}
	var named interface{ OptionName() string }
	if !errors.As(err, &named) || adviceOf[named.OptionName()] == "" {
		return err
	}
	text := adviceOf[named.OptionName()]
	if column, ok := named.(*reader.ColumnError); ok {
		if len(column.Columns) == 0 && column.Column != "" || column.Continues != "" { // for example, the input is a list of text
			return err
		}
		if column.Header && column.Column == "" && len(column.Candidates) > 0 {
			text += ", or add --dialect header=N if line N has the names of the columns, or header=none if the first line is data"
		}
		if len(column.Sheets) > 1 {
			text += ", or another sheet with --sheet NAME"
		}
	}
	return &advisedError{err, text}
}

// flagged adds flags to an error of a library, and marks errors of the command line. An error may be flagged twice.
func flagged(err error) error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		var all []error
		for _, e := range joined.Unwrap() {
			all = append(all, flagged(e))
		}
		return errors.Join(all...)
	}
	switch e := err.(type) {
	case *pipeline.OptionError:
		return &usageError{fmt.Errorf("%s: %w", cmp.Or(flagOf(e.OptionName()), e.Option), e.Err)}
	case *reader.OptionError:
		return &usageError{fmt.Errorf("%s: %s", cmp.Or(flagOf(e.OptionName()), "option "+e.Option), e.Reason)}
	case *reader.FormatError:
		if option := e.OptionName(); option == "reader.Dialect" || option == "reader.Columns" {
			return &usageError{advised(err)}
		}
	case *places.OverwriteError:
		return &usageError{fmt.Errorf("%w; --overwrite replaces no input", err)}
	case *reader.ColumnError, *reader.UnsupportedError, *writer.FormatError, *statefolder.Error:
		return &usageError{advised(err)}
	case *answers.Error:
		if e.Kind == answers.Network {
			return &usageError{advised(err)}
		}
	case *pipeline.OutputTakenError:
		return fmt.Errorf("%s: use --overwrite to replace it", e.Describe(changedFlags(e.Changes)))
	case *account.ShardsTakenError:
		return &usageError{errors.New(e.Describe(changedFlags(e.Changes)))}
	case *account.ShardCountError:
		return &usageError{fmt.Errorf("%w: a task that is started again alone is not told the count of its array, so name its shard with --shard K/%d; 'bulkcat finish %s' names the shards that are missing", err, e.Count, e.Folder)}
	case *pipeline.InputChangedError:
		return fmt.Errorf("%w: use --overwrite to write the folder anew", err)
	case *pipeline.NoStoreError:
		return fmt.Errorf("%w: name their folder with --store", err)
	case *pipeline.UnreachableError:
		return fmt.Errorf("%w: check --base-url or BULKCAT_BASE_URL, the network and the proxy (HTTPS_PROXY); to wait for the service, use --keep-going", err)
	case *pipeline.MisconfiguredError:
		if e.Address != "" {
			return fmt.Errorf("%w; set the base URL with --base-url or BULKCAT_BASE_URL; if the inputs are to blame, use --keep-going", err)
		}
		return fmt.Errorf("%w: see with 'bulkcat probe' how the service wants to be asked; if the inputs are to blame, use --keep-going", err)
	}
	return advised(err)
}

func changedFlags(changes []account.SettingChange) []string {
	var texts []string
	for _, c := range changes {
		switch c.Setting {
		case "service", "input":
			c.Setting = "the " + c.Setting
		case "kind":
			c.Setting = "the command"
		default:
			c.Setting = "--" + strings.ReplaceAll(c.Setting, "_", "-")
		}
		texts = append(texts, c.String())
	}
	return texts
}
