// Package output prepares the output of a run. It checks the options, claims the output so that no run replaces the files of
// another, and decides which parts of a folder are kept from an earlier start. Package readback reads outputs.
package output

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Options describe the output of a run.
type Options struct {
	Path        string        // a file, a folder of parts (it ends in "/" or exists), or "-" for Stdout
	Format      writer.Format // default: by the extension of Path; Parquet for a folder, CSV for "-"
	PartRows    int64         // minimum rows of a part; default writer.DefaultPartRows
	Carry       string        // columns of the input to carry: "all", "none" (or ""), or names separated by commas
	writer.Form               // its Levels may be LevelsOfTaxonomy
	Overwrite   bool          // replace an output of another run
	Stdout      io.Writer     // default os.Stdout
}

// LevelsOfTaxonomy is the value of Form.Levels for as many columns as the deepest taxonomy has levels.
const LevelsOfTaxonomy = -1

// OptionError says that an option of a session is invalid.
type OptionError struct {
	Option string // the field of pipeline.Options, such as "Output.Levels"
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// OptionName returns the name of the field with its package, such as "pipeline.Output.Levels".
func (e *OptionError) OptionName() string { return "pipeline." + e.Option }

// Check validates the options. The error joins an *[OptionError] for each invalid option, and a *writer.FormatError if the
// extension of Path names no format.
func (o *Options) Check() error {
	var errs []error
	refuse := func(wrong bool, option, format string, args ...any) {
		if wrong {
			errs = append(errs, &OptionError{"Output." + option, fmt.Errorf(format, args...)})
		}
	}
	refuse(o.Levels < LevelsOfTaxonomy || o.Levels > writer.MaxLevels, "Levels", "%d must be 0 to %d, or %d", o.Levels, writer.MaxLevels, LevelsOfTaxonomy)
	refuse(o.PartRows < 0, "PartRows", "%d must be at least 1", o.PartRows)
	var format writer.Format
	if o.Path != "" {
		var err error
		format, err = o.FileFormat()
		errs = append(errs, err)
	}
	writer.CheckForm(o.Form, format, refuse)
	return errors.Join(errs...)
}

// IsFolder reports whether the output is a folder of parts: Path ends in "/" or is an existing folder. In object storage only
// the "/" counts, because a folder without objects does not exist.
func (o *Options) IsFolder() bool {
	if o.Path == "-" {
		return false
	}
	if storage.IsURL(o.Path) {
		return strings.HasSuffix(o.Path, "/")
	}
	info, err := os.Stat(o.Path)
	return strings.HasSuffix(o.Path, "/") || err == nil && info.IsDir()
}

// FileFormat returns the format of the output: Format, or the default for Path. The error is an *[OptionError] or a
// *writer.FormatError.
func (o *Options) FileFormat() (writer.Format, error) {
	switch {
	case o.Format != "":
		format, err := writer.ParseFormat(string(o.Format))
		if err != nil {
			return "", &OptionError{Option: "Output.Format", Err: err}
		}
		return format, nil
	case o.IsFolder():
		return writer.Parquet, nil
	case o.Path == "-":
		return writer.CSV, nil
	}
	return writer.FormatOf(o.Path)
}

// Resolve replaces the names in Carry by the exact names of the matching columns of the input.
func (o *Options) Resolve(input *reader.Reader) {
	names, columns := account.NamedColumns(o.Carry), input.Columns()
	for i, name := range names {
		if place, found := input.Place(name); found {
			names[i] = columns[place]
		}
	}
	if len(names) > 0 {
		o.Carry = strings.Join(names, ",")
	}
}

// typesInOutput maps types of input columns to types of output columns. Lists and structs become JSON text.
var typesInOutput = map[reader.Type]writer.Type{
	reader.TypeString: writer.TypeString, reader.TypeJSON: writer.TypeString,
	reader.TypeInt64: writer.TypeInt64, reader.TypeDouble: writer.TypeDouble, reader.TypeBool: writer.TypeBool,
	reader.TypeTimestamp: writer.TypeTimestamp, reader.TypeDateTime: writer.TypeDateTime,
	reader.TypeDate: writer.TypeDate, reader.TypeDecimal: writer.TypeDecimal,
}

// Carried returns the indexes, the names and the types of the input columns to carry. The error is an *[OptionError] if the
// input lacks a column.
func (o *Options) Carried(input *reader.Reader) (places []int, names []string, types []writer.ValueType, err error) {
	columns, schema := input.Columns(), input.Schema()
	names = account.NamedColumns(o.Carry)
	if o.Carry == "all" {
		names = columns
	}
	for _, name := range names {
		place := slices.Index(columns, name)
		if place < 0 {
			return nil, nil, nil, &OptionError{Option: "Output.Carry", Err: fmt.Errorf("the input has no column %q; it has: %s", name, strings.Join(columns, ", "))}
		}
		c := schema[place]
		places, types = append(places, place), append(types, writer.ValueType{Type: typesInOutput[c.Type], Precision: c.Precision, Scale: c.Scale})
	}
	return places, names, types, nil
}

// CheckStream returns an *[OptionError] if Path is a named pipe or a device. Publishing would replace it with a file.
func (o *Options) CheckStream() error {
	if storage.IsURL(o.Path) {
		return nil
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil // the output is created, or another check rejects it
	}
	return &OptionError{Option: "Output.Path", Err: fmt.Errorf("%s is no regular file: for a pipe or a device name -, and redirect standard output", o.Path)}
}

// CheckFolder returns an error if the parent folder of the output does not exist. Objects need no folder.
func (o *Options) CheckFolder() error {
	if storage.IsURL(o.Path) {
		return nil
	}
	if info, err := os.Stat(filepath.Dir(filepath.Clean(o.Path))); err != nil || !info.IsDir() {
		return fmt.Errorf("%s cannot be written: its folder is not there", o.Path)
	}
	return nil
}

// CheckKind returns an *[OptionError] if Path ends in "/" and is an existing file.
func (o *Options) CheckKind() error {
	if storage.IsURL(o.Path) || !strings.HasSuffix(o.Path, "/") {
		return nil
	}
	if info, err := os.Stat(filepath.Clean(o.Path)); err == nil && !info.IsDir() {
		return &OptionError{Option: "Output.Path", Err: fmt.Errorf("%s is a file, and the / at the end asks for a folder: leave the / out, or choose another name", filepath.Clean(o.Path))}
	}
	return nil
}

// Content returns the format of the output without its compression, such as CSV for csv.gz.
func (o *Options) Content() writer.Format {
	format, _ := o.FileFormat() // Check has checked it
	content, _, _ := strings.Cut(string(format), ".")
	return writer.Format(content)
}

// Schema returns the schema of the output of a run with these settings, without the carried columns.
func Schema(s account.Settings) writer.Schema {
	schema := writer.Schema{Form: s.Form, Sources: s.Free != "", Codes: client.Codes()}
	for _, name := range s.Classifications() {
		schema.Titles = schema.Titles || schema.Codes[name] != nil
	}
	return schema
}

// Metadata returns the metadata of the output of a run with these settings. They are the same in every run over the same input.
func Metadata(s account.Settings) map[string]string {
	metadata := map[string]string{
		"bulkcat.format":         "2",
		"bulkcat.kind":           s.Kind,
		"bulkcat.classification": s.Classification,
		"bulkcat.shape":          string(cmp.Or(s.Shape, writer.ShapeLong)),
	}
	if s.Top > 0 {
		metadata["bulkcat.top"] = strconv.Itoa(s.Top)
	}
	if s.MinConfidence > 0 {
		metadata["bulkcat.min_confidence"] = strconv.FormatFloat(s.MinConfidence, 'g', -1, 64)
	}
	return metadata
}

// CarriedBy returns the carried columns of a schema.
func CarriedBy(s writer.Schema) []account.Carried {
	columns := s.Columns()
	carried := make([]account.Carried, len(s.Carry))
	for i, c := range columns[len(columns)-len(s.Carry):] {
		carried[i] = account.Carried{Name: c.Name, Type: c.ValueType.String()}
	}
	return carried
}

// Entries returns the account's entries of the published files.
func Entries(p writer.Published) []account.Output {
	var outputs []account.Output
	for _, file := range p.Files {
		outputs = append(outputs, account.Output(file))
	}
	return outputs
}
