package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/probe"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// probeFlags say what to probe, and where to write the profile.
type probeFlags struct {
	service        serviceFlags
	price          priceFlags // for the profile
	classification string
	profile        outputFile
	dryRun         bool
}

func newProbe(s streams) *cobra.Command {
	f := probeFlags{profile: outputFile{flag: "--profile", isOwn: isProfile}}
	cmd := &cobra.Command{
		Use:   "probe",
		Short: "Find out how to ask a service, with 16 requests at most",
		Example: `  bulkcat probe --dry-run                        # which requests would it make?
  bulkcat probe --profile service.json
  bulkcat website domains.csv -o domains.parquet --profile service.json`,
		Args: operands(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), s.text())
		},
	}
	f.service.flags, f.price.flags = cmd.Flags(), cmd.Flags()
	addGroup(cmd, "Service", f.service.optionsOfProbe())
	addGroup(cmd, "Probe", []option{
		{name: "classification", to: &f.classification, help: "find the member of this custom classification, too: `" + client.CustomPrefix + "NAME`"},
	}, f.profile.options("write the profile to `FILE`, for --profile of the other commands; an earlier profile is replaced"), f.price.options(), []option{
		{name: "dry-run", to: &f.dryRun, help: "list the requests, but make none"},
	})
	return cmd
}

func (f *probeFlags) run(ctx context.Context, out io.Writer) error {
	options, err := f.options(ctx)
	price, priceErr := f.price.get(probe.Profile{})
	if err := errors.Join(err, priceErr); err != nil {
		return &usageError{err}
	}
	if err := f.profile.check(f.service.files()...); err != nil {
		return err
	}
	f.printPlan(out, probe.Plan(options))
	if f.dryRun {
		return nil
	}
	if options.Service.APIKey, err = f.service.apiKey(ctx); err != nil {
		return err
	}
	if _, err := client.New(options.Service); err != nil {
		return &usageError{err}
	}
	fmt.Fprintln(out, "\nMade:")
	options.Observe = func(s probe.Step, seen string) {
		fmt.Fprintf(out, "  %2d  %-8s %s\n", s.Number, s.Operation, seen)
	}
	profile, err := probe.Run(ctx, options)
	if price.Request > 0 {
		profile.Price, profile.Currency = json.Number(price.Request.String()), price.Currency
	}
	printProfile(out, profile)
	if f.profile.path == "" || profile.WebsiteParam == "" && profile.ProductParam == "" {
		return err
	}
	text, encodeErr := profile.Encode()
	if encodeErr != nil {
		return errors.Join(err, encodeErr)
	}
	return errors.Join(err, disk.PublishFile(f.profile.path, text))
}

func isProfile(text []byte) bool {
	_, err := probe.ParseProfile(text)
	return err == nil
}

func (f *probeFlags) options(ctx context.Context) (probe.Options, error) {
	if f.service.BaseURL == "" {
		return probe.Options{}, errors.New("there is no service to probe: set BULKCAT_BASE_URL or --base-url (the embedded service is known)")
	}
	if f.classification != "" && !client.IsCustom(f.classification) {
		return probe.Options{}, fmt.Errorf("--classification: %q must be a custom one, %sNAME", f.classification, client.CustomPrefix)
	}
	options, err := f.service.clientOptions(ctx, 1)
	if err != nil {
		return probe.Options{}, err
	}
	if _, err := client.New(options); err != nil {
		return probe.Options{}, err
	}
	return probe.Options{Service: options, Custom: f.classification}, nil
}

func (f *probeFlags) printPlan(out io.Writer, plan []probe.Step) {
	fmt.Fprintf(out, "At most %d requests to %s, which may charge them:\n", len(plan), f.service.BaseURL)
	for _, s := range plan {
		condition := ""
		if s.If != "" {
			condition = " (if " + s.If + ")"
		}
		fmt.Fprintf(out, "  %2d  %-8s %s%s\n", s.Number, s.Operation, s.Purpose, condition)
	}
}

func printProfile(out io.Writer, p probe.Profile) {
	line := func(name, value string) {
		fmt.Fprintf(out, "  %-15s %s\n", name, cmp.Or(value, "unknown"))
	}
	fmt.Fprintln(out, "\nFound:")
	line("website", p.WebsiteParam)
	line("product", p.ProductParam)
	line("place", string(p.ParamIn))
	line("success", statusCode(p.SuccessStatus))
	line("wrong key", statusCode(p.BadKeyStatus))
	if p.Member != "" {
		line("member", p.Member)
	}
	if p.CustomMember != "" {
		line("custom member", p.CustomMember)
	}
	line("rate limit", perSecond(p.RateLimit))
	line("rate headers", cmp.Or(strings.Join(p.RateHeaders, ", "), "none"))
	line("charges", yesNo(p.Charges))
	if len(p.Assumed) > 0 {
		fmt.Fprintln(out, "\nAssumed:")
	}
	for _, text := range p.Assumed {
		fmt.Fprintln(out, "  -", text)
	}
}

func statusCode(code int) string {
	if code == 0 {
		return ""
	}
	return "HTTP " + strconv.Itoa(code)
}

func perSecond(rate float64) string {
	if rate == 0 {
		return ""
	}
	unit := "/s"
	switch {
	case rate < 1./60:
		rate, unit = rate*3600, "/h"
	case rate < 1:
		rate, unit = rate*60, "/m"
	}
	return strconv.FormatFloat(rate, 'g', 4, 64) + unit
}

func yesNo(known *bool) string {
	switch {
	case known == nil:
		return ""
	case *known:
		return "yes"
	}
	return "no"
}
