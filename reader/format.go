package reader

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// formats are all formats, in the order of [FormatNames]. The order also decides between formats that fit a text
// equally.
var formats = []*inputFormat{&csvFormat, &jsonlFormat, &txtFormat, &parquetFormat, &excelFormat, &feedFormat}

// inputFormat is a format of inputs: either of text, or of files that are read by offset. Each is a variable in a file of
// its own, which only the list of formats names.
type inputFormat struct {
	name        string   // of Options.Format
	extensions  []string // of file names, in lower case
	plain       bool     // its text has no control characters: data with many are binary, and refused
	content     string   // for the guide
	moreColumns bool     // later records may have columns that the first do not have

	// A format of text has fit and examine. fit is asked about the beginning of a text whose name has no known
	// extension. examine sets the columns and the names of the input columns of a file.
	fit     func(s *beginning, o *Options) fit
	marked  bool // the fit of its text is sureFit, whatever the name of the file
	examine func(f *file, s *beginning, o *Options) (opener, error)

	// A format that is read by offset has the others. recognize reports whether the content of a regular file has the
	// format, inspect is like examine, and damaged returns the error for content that does not have the format.
	recognize func(head []byte, body Source, size int64) bool
	inspect   func(f *file, body Source, size int64, o *Options) (opener, error)
	damaged   func(file string, reason error) error
}

// opener returns the parser of a file that examine or inspect has seen. If the file has changed since, the error is that
// of changedSince.
type opener func(r *Reader, f *file, s *stream) (parser, error)

// fit says how well the first lines of a text fit a format.
type fit int

const (
	noFit   fit = iota
	anyText     // every text fits
	weakFit
	fairFit
	strongFit
	sureFit // text of another format does not begin so
)

// formatNamed returns the format of Options.Format; nil for another name.
func formatNamed(name string) *inputFormat {
	return firstFormat(func(f *inputFormat) bool { return f.name == name })
}

// formatByName returns the format of the extension of a file name; nil for other extensions.
func formatByName(file string) *inputFormat {
	extension := extension(file)
	return firstFormat(func(f *inputFormat) bool { return slices.Contains(f.extensions, extension) })
}

// recognized returns the format of a file that is read by offset; nil for text and for a pipe or a device.
func recognized(body Source, size int64) *inputFormat {
	if size < 0 {
		return nil
	}
	head := make([]byte, headSize)
	n, _ := body.ReadAt(head, 0) // the next Read returns an error met here
	head = head[:n]
	return firstFormat(func(f *inputFormat) bool { return f.recognize != nil && f.recognize(head, body, size) })
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

// errOtherContent is the reason of damaged for a file that is text.
var errOtherContent = errors.New("its beginning is that of another file")

// FormatNames returns the names that Options.Format may have, as a phrase: csv, jsonl, txt, parquet, xlsx or xml.
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
