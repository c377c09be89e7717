package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// writeNames writes the file of package taxonomy with the names of product categories in other languages. It reads the files
// LOCALE.tsv in a folder, which have a line of titles and lines of an id and a name. It leaves out English, and ids that the
// taxonomy lacks.
func writeNames(folder, out string) error {
	paths, err := filepath.Glob(filepath.Join(folder, "*.tsv"))
	if err != nil {
		return err
	}
	if len(paths) == 0 {
		return fmt.Errorf("%s has no files LOCALE.tsv", folder)
	}
	var all bytes.Buffer
	for _, path := range paths {
		locale := strings.TrimSuffix(filepath.Base(path), ".tsv")
		language, _, _ := strings.Cut(locale, "-")
		if language == "en" {
			continue
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		names := make(map[string]string)
		for line := range strings.Lines(string(data)) {
			id, name, ok := strings.Cut(strings.TrimRight(line, "\r\n"), "\t")
			if !ok {
				return fmt.Errorf("%s: %q is not an id and a name with a tab between", path, line)
			}
			names[id] = strings.TrimSpace(name) // some end in a space
		}
		fmt.Fprintf(&all, "# %s\n", language)
		for _, c := range taxonomy.Products().Categories {
			if name, ok := names[c.ID]; ok {
				fmt.Fprintf(&all, "%s\t%s\n", c.ID, name)
			}
		}
	}
	e, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithWindowSize(zstd.MaxWindowSize>>5))
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(out, "names.tsv.zst"), e.EncodeAll(all.Bytes(), nil), 0o644)
}
