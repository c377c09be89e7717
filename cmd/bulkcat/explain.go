package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/normalize"
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
		Short: "Show which words decided the answer of the embedded service",
		Long: `Show which words decided the answer of the embedded service: where the words were read,
which category they support, and their share of the score of that category. The answer of
the service is below the table. The answers of hosted services cannot be explained.`,
		Example: `  bulkcat explain product "men's trail running shoes"
  bulkcat explain website example.com --classification naics
  bulkcat explain product 'velvet settee' --taxonomy product_taxonomy_custom_acme=acme.csv \
    --classification product_taxonomy_custom_acme`,
		Args: operands(2, 2, "nothing to explain: name website or product, and the input"),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.run(cmd.Context(), client.Kind(args[0]), args[1])
		},
	}
	addGroup(cmd, "Service", classificationOption(&f.classification), f.fetch.options(), f.taxonomies.options(), f.taxonomies.editionOptions())
	addGroup(cmd, "Output", jsonOption(&f.asJSON, "one line of JSON, with all contributions"))
	addGroup(cmd, "Run", f.log.options())
	return cmd
}

func (f *explainFlags) run(ctx context.Context, kind client.Kind, input string) error {
	log := f.log.logger(f.streams.err)
	if err := f.taxonomies.load(log); err != nil {
		return err
	}
	request, err := f.request(kind, input)
	if err != nil {
		return &usageError{err}
	}
	explanation, err := embedded.New(f.taxonomies.service(&f.fetch, log)).Explain(ctx, request)
	if err == nil {
		err = f.streams.print(explanation, f.asJSON)
	}
	if err != nil {
		return fmt.Errorf("explain %s: %w", request.Input, err)
	}
	return nil
}

// request makes the request that a run would make.
func (f *explainFlags) request(kind client.Kind, input string) (client.Request, error) {
	if !kind.Known() {
		return client.Request{}, fmt.Errorf("%q is no kind of input: choose %s or %s", kind, client.Website, client.Product)
	}
	classification, err := f.taxonomies.choose(kind, f.classification)
	if err != nil {
		return client.Request{}, err
	}
	normalizer := normalize.Normalizer{AskPlaceholders: true} // a typed input is no placeholder
	request, err := normalizer.Request(kind, input, classification)
	return normalizer.Site(request), err
}
