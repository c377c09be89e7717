package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// flagOf has the flags of the options that package pipeline may refuse.
var flagOf = map[string]string{
	"Classifications":      "--classification",
	"Scheme":               "--scheme",
	"Dedupe":               "--dedupe",
	"Limit":                "--limit",
	"Shard":                "--shard",
	"Limits.MaxRequests":   "--max-requests",
	"Store.Dir":            "--store",
	"Grace":                "--grace",
	"Output.Format":        "--output-format",
	"Output.PartRows":      "--part-rows",
	"Output.Levels":        "--levels",
	"Output.Carry":         "--carry",
	"Output.Shape":         "--shape",
	"Output.Top":           "--top",
	"Output.MinConfidence": "--min-confidence",
	"LabelColumn":          "--label-column",
}

// flagged adds flags to an error of package pipeline, and marks errors of the command line.
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
		return &usageError{fmt.Errorf("%s: %w", firstOf(flagOf[e.Option], e.Option), e.Err)}
	case *pipeline.OverwriteError:
		return &usageError{fmt.Errorf("%w; --overwrite replaces no input", err)}
	case *reader.ColumnError, *reader.OptionError, *reader.UnsupportedError, *writer.FormatError:
		return &usageError{err}
	case *pipeline.OutputTakenError:
		return fmt.Errorf("%s: use --overwrite to replace it", e.Describe(changedFlags(e.Changes)))
	case *pipeline.ShardsTakenError:
		return &usageError{errors.New(e.Describe(changedFlags(e.Changes)))}
	case *pipeline.ShardCountError:
		return &usageError{fmt.Errorf("%w: a task that is started again alone is not told the count of its array, so name its shard with --shard K/%d; 'bulkcat finish %s' names the shards that are missing", err, e.Count, e.Folder)}
	case *pipeline.InputChangedError:
		return fmt.Errorf("%w: use --overwrite to write the folder anew", err)
	case *pipeline.NoStoreError:
		return fmt.Errorf("%w: name their folder with --store", err)
	case *pipeline.MisconfiguredError:
		return fmt.Errorf("%w: see with 'bulkcat probe' how the service wants to be asked; if the inputs are to blame, use --keep-going", err)
	}
	return err
}

func changedFlags(changes []pipeline.Change) []string {
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
