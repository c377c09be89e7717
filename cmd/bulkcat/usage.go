package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newUsage(s streams) *cobra.Command {
	var (
		service serviceFlags
		log     logFlags
	)
	cmd := &cobra.Command{
		Use:     "usage",
		Short:   "Say what the account has left",
		Example: "  BULKCAT_BASE_URL=https://api.example.com BULKCAT_API_KEY=... bulkcat usage",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := log.check(); err != nil {
				return &usageError{err}
			}
			svc, err := service.open(1, log.logger(s.err))
			if err != nil {
				return err
			}
			defer svc.Close()
			if !svc.hosted && !log.quiet {
				fmt.Fprintln(s.err, embeddedNotice)
			}
			usage, err := svc.Usage(cmd.Context())
			if err != nil {
				return err
			}
			_, err = fmt.Fprintf(s.out, "plan       %s\nremaining  %s\n", usage.Plan, usage.Remaining)
			return err
		},
	}
	addGroup(cmd, "Service", service.bind)
	addGroup(cmd, "Run", log.bind)
	return cmd
}
