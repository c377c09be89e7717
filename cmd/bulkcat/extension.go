package main

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/writer"
)

// otherFormats are extensions of files that commands write, beside those of outputs.
var otherFormats = []string{".json", ".html", ".htm", ".md", ".xlsx", ".model"}

// checkExtension refuses a name of a file that promises another format than the file gets; "-" and unknown extensions promise
// none.
func checkExtension(flag, path, extension string) error {
	ext := strings.ToLower(filepath.Ext(path))
	_, err := writer.FormatOf(path)
	if ext == extension || err != nil && !slices.Contains(otherFormats, ext) {
		return nil
	}
	return &usageError{fmt.Errorf("%s: %s would be written as %s: give the file the extension %s", flag, path, strings.ToUpper(extension[1:]), extension)}
}
