package main

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// samples are the inputs of the session in README.md.
//
//go:embed samples
var samples embed.FS

func newDemo(s streams) *cobra.Command {
	return &cobra.Command{
		Use:   "demo DIR",
		Short: "Write sample inputs into a folder",
		Long: `Write sample inputs into a folder: domains.csv and catalog.jsonl. A file that exists with
other content is not replaced.`,
		Example: `  bulkcat demo .
  bulkcat website domains.csv -o domains.parquet`,
		Args: operands(1, 1, "no folder: name the folder for the samples, such as ."),
		RunE: func(_ *cobra.Command, args []string) error { return writeSamples(s, args[0]) },
	}
}

// writeSamples writes each sample into a folder and prints its path.
func writeSamples(s streams, folder string) error {
	if storage.IsURL(folder) {
		return &usageError{fmt.Errorf("the samples are written on this machine: name a folder instead of %s", folder)}
	}
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	entries, err := samples.ReadDir("samples")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		data, err := samples.ReadFile("samples/" + entry.Name())
		if err != nil {
			return err
		}
		path := filepath.Join(folder, entry.Name())
		created, err := disk.CreateFile(path, data)
		if err != nil {
			return err
		}
		if there, err := regular.Read(path, int64(len(data))); !created && (err != nil || string(there) != string(data)) {
			return &fs.PathError{Op: "write", Path: path, Err: errors.New("another file has this name; choose another folder")}
		}
		if _, err := fmt.Fprintln(s.out, path); err != nil {
			return err
		}
	}
	return nil
}
