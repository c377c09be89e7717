package main

import (
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/client"
)

func newUsage(s streams) *cobra.Command {
	var (
		service serviceFlags
		log     logFlags
		asJSON  bool
	)
	cmd := &cobra.Command{
		Use:     "usage",
		Short:   "Show how much quota is left",
		Example: "  BULKCAT_BASE_URL=https://api.example.com BULKCAT_API_KEY=... bulkcat usage",
		Args:    operands(0, 0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			svc, err := service.open(cmd.Context(), 1, log.logger(s.err))
			if err != nil {
				return err
			}
			defer svc.Close()
			if !svc.Hosted && !log.quiet {
				fmt.Fprintln(s.err, embeddedNotice)
			}
			usage, err := svc.Usage(cmd.Context())
			if err != nil {
				return err
			}
			return printUsage(s.text(), usage, asJSON)
		},
	}
	service.flags = cmd.Flags()
	addGroup(cmd, "Service", service.options())
	addGroup(cmd, "Output", jsonOption(&asJSON, `one line of JSON: {"plan":"...","remaining":"..."}`))
	addGroup(cmd, "Run", log.options())
	return cmd
}

func printUsage(out io.Writer, usage client.Usage, asJSON bool) error {
	if !asJSON {
		_, err := fmt.Fprintf(out, "plan       %s\nremaining  %s\n", usage.Plan, usage.Remaining)
		return err
	}
	return writeJSON(out, struct {
		Plan      string `json:"plan"`
		Remaining string `json:"remaining"`
	}{usage.Plan, usage.Remaining})
}
