package main

import (
	"testing"

	"github.com/spf13/pflag"
)

// The help shows at most 24 flags of a command, and only flags that there are.
func TestHelpIsShort(t *testing.T) {
	named := map[string]bool{}
	for _, cmd := range newRoot(streams{}).Commands() {
		flags, all := everydayFlags(cmd), 0
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			if !f.Hidden {
				all++
			}
		})
		shown := all
		if flags != nil {
			named[cmd.Name()], shown = true, 0
			flags.VisitAll(func(*pflag.Flag) { shown++ })
		}
		if shown > 24 {
			t.Errorf("the help of %s shows %d flags", cmd.Name(), shown)
		}
	}
	for name := range everyday {
		if !named[name] {
			t.Errorf("there is no command %s", name)
		}
	}
}
