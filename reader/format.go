package reader

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// formats are all formats, in the order of [FormatNames]. If several fit a text equally, the first counts.
var formats = []*inputFormat{&csvFormat, &jsonlFormat, &txtFormat, &parquetFormat, &excelFormat, &feedFormat}

// inputFormat is a format of inputs: a format of text, or of files that are read by offset. Each format is a variable in its own
// file, to which only formats refers.
type inputFormat struct {
	name        string   // of Options.Format
	extensions  []string // of file names, in lower case
	content     string   // for the guide
	moreColumns bool     // later records may have more columns than the first records

	// A format of text has fit and examine. fit rates the beginning of a text without a known extension. examine sets the
	// columns and the input columns of a file.
	fit     func(s *beginning, o *Options) fit
	marked  bool // its text always has a sureFit, which has priority over the extension
	examine func(f *file, s *beginning, o *Options) (opener, error)

	// A format that is read by offset has the other functions. recognize reports whether a regular file has the format. inspect
	// corresponds to examine. damaged returns the error for a file with the extension, but without the format.
	recognize func(head []byte, body Source, size int64) bool
	inspect   func(f *file, body Source, size int64, o *Options) (opener, error)
	damaged   func(file string, reason error) error
}

// opener returns the parser of a file after examine or inspect. If the file has changed since, it returns the error of
// changedSince.
type opener func(r *Reader, f *file, s *stream) (parser, error)

// fit rates how well the first lines of a text fit a format.
type fit int

const (
	noFit   fit = iota
	anyText     // every text fits
	weakFit
	fairFit
	strongFit
	sureFit // text of other formats does not begin like this
)

// formatNamed returns the format with a name of Options.Format; nil for other names.
func formatNamed(name string) *inputFormat {
	return firstFormat(func(f *inputFormat) bool { return f.name == name })
}

// formatByName returns the format of the extension of a file name; nil for other extensions.
func formatByName(file string) *inputFormat {
	extension := extension(file)
	return firstFormat(func(f *inputFormat) bool { return slices.Contains(f.extensions, extension) })
}

func firstFormat(matches func(*inputFormat) bool) *inputFormat {
	if i := slices.IndexFunc(formats, matches); i >= 0 {
		return formats[i]
	}
	return nil
}

// bestFormat returns the format that a text fits best.
func bestFormat(s *beginning, o *Options) (best *inputFormat) {
	most := noFit
	for _, f := range formats {
		if f.fit == nil {
			continue
		}
		if fit := f.fit(s, o); fit > most {
			best, most = f, fit
		}
	}
	return best
}

// errOtherContent is the reason for damaged if a file is text.
var errOtherContent = errors.New("it begins like another kind of file")

// FormatNames returns the values of Options.Format as a phrase: "csv, jsonl, txt, parquet, xlsx or xml".
func FormatNames() string {
	var names []string
	for _, f := range formats {
		names = append(names, f.name)
	}
	last := len(names) - 1
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// extension returns the extension of a file name without .gz and .zst, in lower case.
func extension(name string) string {
	name = strings.ToLower(filepath.Base(name))
	name = strings.TrimSuffix(strings.TrimSuffix(name, ".gz"), ".zst")
	return filepath.Ext(name)
}
