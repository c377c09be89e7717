package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
)

// explainFlags are the flags of `explain`.
type explainFlags struct {
	streams        streams
	classification string
	taxonomies     customFlags
	fetch          fetchFlags
	asJSON         bool
	log            logFlags
}

func newExplain(s streams) *cobra.Command {
	f := &explainFlags{streams: s}
	cmd := &cobra.Command{
		Use:   "explain website|product INPUT",
		Short: "Tell which words led the embedded service to its answer",
		Long: `Tell which words led the embedded service to its answer: what was read where, for which
category it spoke, and its share of that category's score. The answer below the table is
the one that the service gives. A hosted service cannot be explained.`,
		Example: `  bulkcat explain product "men's trail running shoes"
  bulkcat explain website example.com --classification naics
  bulkcat explain product 'velvet settee' --taxonomy product_taxonomy_custom_acme=acme.csv \
    --classification product_taxonomy_custom_acme`,
		Args: operands(2, 2, "nothing to explain: name website or product, and the input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), client.Kind(args[0]), args[1])
		},
	}
	addGroup(cmd, "Service", func(flags *pflag.FlagSet) {
		flags.StringVar(&f.classification, "classification", "", "the `name` of what to ask for (default "+client.TaxonomyV3+" or "+client.ProductTaxonomy+")")
		f.fetch.bind(flags)
		f.taxonomies.bind(flags)
	})
	addGroup(cmd, "Output", func(flags *pflag.FlagSet) {
		flags.BoolVar(&f.asJSON, "json", false, "one line of JSON, with all contributions")
	})
	addGroup(cmd, "Run", f.log.bind)
	return cmd
}

func (f *explainFlags) run(ctx context.Context, kind client.Kind, input string) error {
	if err := f.taxonomies.load(); err != nil {
		return err
	}
	request, err := f.request(kind, input)
	if err != nil {
		return &usageError{err}
	}
	if err := f.taxonomies.has(request.Classification); err != nil {
		return &usageError{err}
	}
	log := f.log.logger(f.streams.err)
	service := embedded.New(embedded.Options{Fetch: f.fetch.fetcher(log), Custom: f.taxonomies.taxonomies(), Logger: log})
	explanation, err := service.Explain(ctx, operations[kind], request.Classification, request.Input)
	if err != nil {
		return fmt.Errorf("explain %s: %w", request.Input, err)
	}
	answer, err := client.ParseAnswer(explanation.Body, request.Classification)
	if err != nil {
		return fmt.Errorf("explain %s: %w", request.Input, err)
	}
	if f.asJSON {
		return f.printJSON(request, explanation)
	}
	return printExplanation(f.streams.text(), request, explanation, answer)
}

// request normalizes the input as a run does.
func (f *explainFlags) request(kind client.Kind, input string) (client.Request, error) {
	if operations[kind] == "" {
		return client.Request{}, fmt.Errorf("%q can be neither asked nor explained: choose %s or %s", kind, client.Website, client.Product)
	}
	if f.classification == "" {
		f.classification = f.taxonomies.fallback(kind)
	}
	if err := client.CheckClassification(kind, f.classification); err != nil {
		return client.Request{}, fmt.Errorf("--classification: %w", err)
	}
	if err := f.log.check(); err != nil {
		return client.Request{}, err
	}
	request, err := client.Normalizer{}.Request(kind, input, f.classification)
	return client.Normalizer{}.Site(request), err
}

func (f *explainFlags) printJSON(r client.Request, e embedded.Explanation) error {
	encoder := json.NewEncoder(f.streams.out)
	encoder.SetEscapeHTML(false)
	return encoder.Encode(struct {
		Kind          client.Kind             `json:"kind"`
		Input         string                  `json:"input"`
		PageRead      bool                    `json:"page_read"`
		Answer        json.RawMessage         `json:"answer"`
		Contributions []embedded.Contribution `json:"contributions"`
	}{r.Kind, r.Input, e.Cost == embedded.CostPage, e.Body, e.Contributions})
}

// mostContributions are shown of each entry; what comes after them hardly moves the
// answer.
const mostContributions = 8

func printExplanation(out io.Writer, r client.Request, e embedded.Explanation, answer client.Answer) error {
	fmt.Fprintf(out, "%s  %s\n", r.Kind, r.Input)
	if r.Kind == client.Website && e.Cost != embedded.CostPage {
		fmt.Fprintln(out, "no page was read: judged by the name alone")
	}
	if len(answer.Entries) == 0 {
		_, err := fmt.Fprintf(out, "\nNothing fits: no words speak for a category of %s.\n", r.Classification)
		return err
	}
	fmt.Fprintln(out)
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "WORDS\tREAD IN\tWEIGHT\tSHARE\tCATEGORY")
	for _, entry := range answer.Entries {
		printContributions(w, entry.Value, e.Contributions)
	}
	if err := w.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	fmt.Fprintln(w, "RANK\tCONFIDENCE\tVALUE")
	for i, entry := range answer.Entries {
		fmt.Fprintf(w, "%d\t%.4f\t%s\n", i+1, entry.Confidence, strings.TrimSpace(entry.Value+"  "+entry.Title))
	}
	return w.Flush()
}

// printContributions prints the weightiest contributions to an entry, and what is left
// in one row.
func printContributions(w io.Writer, value string, contributions []embedded.Contribution) {
	shown, more, weight, share := 0, 0, 0.0, 0.0
	for _, c := range contributions {
		if c.Value != value {
			continue
		}
		if shown == mostContributions {
			more, weight, share = more+1, weight+c.Weight, share+c.Share
			continue
		}
		shown++
		category := c.Value
		if c.Speaker != c.Value {
			category += "  (through " + c.Speaker + ")"
		}
		fmt.Fprintf(w, "%s\t%s\t%.2f\t%.0f%%\t%s\n", c.Words, strings.Join(c.Fields, ", "), c.Weight, 100*c.Share, category)
	}
	if more > 0 {
		fmt.Fprintf(w, "(%d more)\t\t%.2f\t%.0f%%\t%s\n", more, weight, 100*share, value)
	}
}
