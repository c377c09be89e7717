package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/pprof"
	"runtime/trace"
)

// profilingFlags are hidden flags for work on the speed of bulkcat.
type profilingFlags struct {
	cpu    string
	memory string
	trace  string
}

// start starts the profiles; stop ends them and writes the files.
func (f *profilingFlags) start() (stop func() error, err error) {
	var ends []func() error
	stop = func() (err error) {
		for _, end := range ends {
			err = errors.Join(err, end())
		}
		return err
	}
	for _, p := range []struct {
		path       string
		start, end func(io.Writer) error
	}{
		{f.cpu, pprof.StartCPUProfile, func(io.Writer) error { pprof.StopCPUProfile(); return nil }},
		{f.trace, trace.Start, func(io.Writer) error { trace.Stop(); return nil }},
		{f.memory, func(io.Writer) error { return nil }, func(out io.Writer) error {
			runtime.GC() // so that the profile also shows live memory
			return pprof.Lookup("allocs").WriteTo(out, 0)
		}},
	} {
		if p.path == "" {
			continue
		}
		file, err := os.Create(p.path)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("write a profile: %w", err), stop())
		}
		if err := p.start(file); err != nil {
			return nil, errors.Join(err, file.Close(), stop())
		}
		ends = append(ends, func() error { return errors.Join(p.end(file), file.Close()) })
	}
	return stop, nil
}
