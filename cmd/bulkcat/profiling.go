package main

import (
	"errors"
	"fmt"
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
	var stops []func() error
	stop = func() error {
		var errs []error
		for _, s := range stops {
			errs = append(errs, s())
		}
		return errors.Join(errs...)
	}
	begin := func(path string, start func(*os.File) error, end func(*os.File) error) {
		if path == "" || err != nil {
			return
		}
		file, createErr := os.Create(path)
		if createErr != nil {
			err = fmt.Errorf("write a profile: %w", createErr)
			return
		}
		if err = start(file); err != nil {
			err = errors.Join(err, file.Close())
			return
		}
		stops = append(stops, func() error { return errors.Join(end(file), file.Close()) })
	}
	begin(f.cpu, func(file *os.File) error { return pprof.StartCPUProfile(file) },
		func(*os.File) error { pprof.StopCPUProfile(); return nil })
	begin(f.trace, func(file *os.File) error { return trace.Start(file) },
		func(*os.File) error { trace.Stop(); return nil })
	begin(f.memory, func(*os.File) error { return nil }, func(file *os.File) error {
		runtime.GC() // so that the profile also shows live memory
		return pprof.Lookup("allocs").WriteTo(file, 0)
	})
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	return stop, nil
}
