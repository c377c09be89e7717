package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/url"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/answers"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/pipeline/figures"
	"github.com/bulkcat/bulkcat/reader"
)

// deleteFlags say which stored answers are deleted.
type deleteFlags struct {
	storeFlags
	inputs         []string
	inputFile      string
	input          inputFlags // of inputFile
	domains        []string
	kind           string
	classification string
}

func newStoreDelete(s streams) *cobra.Command {
	f := deleteFlags{storeFlags: storeFlags{streams: s}}
	cmd := &cobra.Command{
		Use:   "delete [INPUT...]",
		Short: "Delete the answers for inputs or domains, for good",
		Long: `Delete the stored answers for inputs, or for all websites of domains, in all
classifications: no file of the store has them any more. Each INPUT stands for all its
spellings. The answers in outputs, and in copies of the store, stay.`,
		Example: `  bulkcat store delete example.com "men's trail running shoes"
  bulkcat store delete --domain example.com --domain example.org
  bulkcat store delete --input-file requests.csv --input-column url --kind website`,
		Args: operands(0, anyNumber, ""),
		RunE: func(cmd *cobra.Command, args []string) error {
			f.inputs = args
			return f.run(cmd.Context(), s)
		},
	}
	addGroup(cmd, "Store", f.options())
	addGroup(cmd, "Answers", []option{
		{name: "input-file", to: &f.inputFile, help: "delete for the inputs in `FILE`, in any format of the input of a run"},
		{name: "domain", to: &f.domains, help: "delete for all websites of this `DOMAIN` and of those below it; may be given several times"},
		{name: "kind", to: &f.kind, words: kinds, only: true, help: "only answers of this kind: website or product"},
		{name: "classification", to: &f.classification, help: "only answers in the classification of this `name`"},
	})
	addGroup(cmd, "File", f.input.columnOptions("input-column", "the `column` of the inputs (default: by its name, as in a run); may be given several times"), f.input.formatOptions())
	return cmd
}

func (f *deleteFlags) run(ctx context.Context, s streams) error {
	match, err := f.matcher(ctx)
	if err != nil {
		return err
	}
	return f.with(answers.Options{MustExist: true}, func(store *answers.Store) error {
		var deleted []string
		n, err := store.Delete(ctx, func(_ string, r client.Request) bool {
			ok := match(r)
			if ok {
				deleted = append(deleted, fmt.Sprintf("%s %s (%s)", r.Kind, r.Input, r.Classification))
			}
			return ok
		})
		if err != nil {
			return fmt.Errorf("the answers are not deleted for certain: delete them again: %w", err)
		}
		slices.Sort(deleted)
		for _, line := range slices.Compact(deleted) {
			fmt.Fprintln(s.text(), "deleted", line)
		}
		fmt.Fprintf(s.err, "deleted %s\n%s", figures.Counted(n, "answer"), remaining)
		return nil
	})
}

// remaining says where deleted answers may still be.
const remaining = "outputs keep their rows: write them again, or remove them\ncopies of the store keep the answers\n"

// matcher returns a function that reports whether an answer is deleted.
func (f *deleteFlags) matcher(ctx context.Context) (func(client.Request) bool, error) {
	kinds := []client.Kind{client.Website, client.Product}
	if f.kind != "" {
		kinds = []client.Kind{client.Kind(f.kind)}
	}
	inputs := f.inputs
	if f.inputFile != "" {
		listed, err := f.listed(ctx, kinds)
		if err != nil {
			return nil, err
		}
		inputs = append(inputs, listed...)
	}
	if len(inputs) == 0 && len(f.domains) == 0 {
		return nil, &usageError{errors.New("nothing to delete: name inputs, --input-file or --domain")}
	}
	domains, err := domainNames(f.domains)
	if err != nil {
		return nil, &usageError{err}
	}
	wanted := make(map[client.Request]bool)
	for _, input := range inputs {
		if err := addSpellings(wanted, input, kinds); err != nil {
			return nil, &usageError{err}
		}
	}
	return func(r client.Request) bool {
		if !slices.Contains(kinds, r.Kind) || f.classification != "" && r.Classification != f.classification {
			return false
		}
		return wanted[keyOf(r)] || slices.ContainsFunc(domains, func(domain string) bool { return isOf(domain, r.Input) })
	}, nil
}

// listed returns the inputs of the file that are not blank. A record that cannot be read is an error: its answers would stay.
func (f *deleteFlags) listed(ctx context.Context, kinds []client.Kind) (inputs []string, err error) {
	f.input.Paths, f.input.Log = []string{f.inputFile}, new(logFlags).logger(f.err)
	options, err := f.input.options(f.in)
	if err != nil {
		return nil, &usageError{err}
	}
	list, err := reader.Open(ctx, pipeline.InputOptions(options, kinds...))
	if _, isColumn := errors.AsType[*reader.ColumnError](err); isColumn {
		return nil, &pipeline.OptionError{Option: "InputColumn", Err: err}
	}
	if err != nil {
		return nil, &usageError{fmt.Errorf("--input-file: %w", err)}
	}
	defer list.Close() // only read from
	for {
		record, err := list.Read()
		switch err = cmp.Or(err, record.Err); {
		case err == io.EOF:
			return inputs, nil
		case err != nil:
			return nil, fmt.Errorf("--input-file: nothing is deleted: %w", err)
		case strings.TrimSpace(record.Input) != "":
			inputs = append(inputs, record.Input)
		}
	}
}

// keyOf returns the request that stands for all spellings of an input, in any classification.
func keyOf(r client.Request) client.Request {
	r.Classification = ""
	return normalize.Normalizer{}.Site(r)
}

// addSpellings adds the keys of an input. A bare host is a website with either scheme.
func addSpellings(keys map[client.Request]bool, input string, kinds []client.Kind) error {
	var refused error
	for _, kind := range kinds {
		for _, scheme := range []string{"https", "http"} {
			r, err := normalize.Normalizer{Scheme: scheme}.Request(kind, input, client.Classifications(kind)[0])
			if err != nil {
				refused = err
				continue
			}
			keys[keyOf(r)] = true
		}
	}
	if len(kinds) > 1 { // a title is no website
		return nil
	}
	return refused
}

// domainNames returns the names of domains as in stored inputs.
func domainNames(domains []string) (names []string, err error) {
	for _, domain := range domains {
		r, err := normalize.Normalizer{}.Request(client.Website, domain, client.TaxonomyV3)
		host := hostOf(r.Input)
		if err != nil || host == "" || strings.ContainsAny(domain, "/:") {
			return nil, fmt.Errorf("--domain: %q must be a name such as example.com", domain)
		}
		names = append(names, host)
	}
	return names, nil
}

// isOf reports whether an input is a website of a domain.
func isOf(domain, input string) bool {
	host := hostOf(input)
	return host == domain || strings.HasSuffix(host, "."+domain)
}

// hostOf returns the host of a stored website; "" for a title.
func hostOf(input string) string {
	if !strings.HasPrefix(input, "http://") && !strings.HasPrefix(input, "https://") {
		return ""
	}
	u, err := url.Parse(input)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
