// Package output is the output that a run writes: where its rows go, the claim that keeps other runs and the files of
// others out, and, of a folder, the parts that are kept from the run before. Package outputs reads outputs back.
package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Options say where rows go, and in which form.
type Options struct {
	Path        string        // a file, a folder of parts (it ends in "/" or exists), or "-" for Stdout
	Format      writer.Format // default: by the extension of Path; Parquet for a folder, CSV for "-"
	PartRows    int64         // rows of a part, at least; default writer.DefaultPartRows
	Carry       string        // columns of the input to carry: "all", "none" (or ""), or names with a comma between
	writer.Form               // its Levels may be LevelsOfTaxonomy
	Overwrite   bool          // replace an output that another run has written
	Stdout      io.Writer     // default os.Stdout
}

// LevelsOfTaxonomy asks for as many columns level_1, level_2, ... as the deepest taxonomy has levels.
const LevelsOfTaxonomy = -1

// OptionError says that an option of a session cannot be used.
type OptionError struct {
	Option string // the field of pipeline.SessionOptions, such as "Output.Levels"
	Err    error
}

func (e *OptionError) Error() string { return e.Option + ": " + e.Err.Error() }
func (e *OptionError) Unwrap() error { return e.Err }

// OptionName returns the package and the field, such as "pipeline.Output.Levels".
func (e *OptionError) OptionName() string { return "pipeline." + e.Option }

// Check finds options that cannot be used. The error joins an *[OptionError] for each, and a *writer.FormatError if the
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
	o.Form.Check(format, refuse)
	return errors.Join(errs...)
}

// IsFolder reports whether the output is a folder of parts: its path ends in "/", or the folder exists. In object storage
// only the "/" counts, for a folder does not exist without objects.
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

// FileFormat returns the format of the output: Format, or that of Path. The error is an *[OptionError] or a
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

// Resolve replaces the names of carried columns by those of the input's columns that they fit.
func (o *Options) Resolve(input *reader.Reader) {
	names, columns := record.Settings{Carry: o.Carry}.NamedColumns(), input.Columns()
	for i, name := range names {
		if place, found := input.Place(name); found {
			names[i] = columns[place]
		}
	}
	if len(names) > 0 {
		o.Carry = strings.Join(names, ",")
	}
}

// typesInOutput are the types of the input's columns in the output. Lists and structs are text.
var typesInOutput = map[reader.Type]writer.Type{
	reader.TypeString: writer.TypeString, reader.TypeJSON: writer.TypeString,
	reader.TypeInt64: writer.TypeInt64, reader.TypeDouble: writer.TypeDouble, reader.TypeBool: writer.TypeBool,
	reader.TypeTimestamp: writer.TypeTimestamp, reader.TypeDateTime: writer.TypeDateTime,
	reader.TypeDate: writer.TypeDate, reader.TypeDecimal: writer.TypeDecimal,
}

// Carried gives the carried columns: their places among the input's, their names and the types of their values.
func (o *Options) Carried(input *reader.Reader) (places []int, names []string, types []writer.ValueType, err error) {
	columns, schema := input.Columns(), input.Schema()
	names = record.Settings{Carry: o.Carry}.NamedColumns()
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

// CheckStream refuses a pipe or a device that has a name: rows would replace it, or get lost with the run.
func (o *Options) CheckStream() error {
	if storage.IsURL(o.Path) {
		return nil
	}
	info, err := os.Stat(o.Path)
	if err != nil || info.Mode().IsRegular() || info.IsDir() {
		return nil // the output is made, or another check refuses it
	}
	return &OptionError{Option: "Output.Path", Err: fmt.Errorf("%s is no regular file: for a pipe or a device name -, and redirect standard output", o.Path)}
}

// CheckFolder wants the folder that the output lies in to exist. For an object it creates the folder of the local files.
func (o *Options) CheckFolder() error {
	if storage.IsURL(o.Path) {
		return storage.MakeLocal(o.Path)
	}
	if info, err := os.Stat(filepath.Dir(filepath.Clean(o.Path))); err != nil || !info.IsDir() {
		return fmt.Errorf("%s cannot be written: its folder is not there", o.Path)
	}
	return nil
}

// CheckKind wants a folder where the path ends as that of a folder.
func (o *Options) CheckKind() error {
	if storage.IsURL(o.Path) || !strings.HasSuffix(o.Path, "/") {
		return nil
	}
	if info, err := os.Stat(filepath.Clean(o.Path)); err == nil && !info.IsDir() {
		return &OptionError{Option: "Output.Path", Err: fmt.Errorf("%s is a file, and the / at the end asks for a folder: leave the / out, or choose another name", filepath.Clean(o.Path))}
	}
	return nil
}

// Content returns the format of the output without its compression.
func (o *Options) Content() writer.Format {
	format, _ := o.FileFormat() // checked by Check
	content, _, _ := strings.Cut(string(format), ".")
	return writer.Format(content)
}

// CarriedBy gives the carried columns of a schema.
func CarriedBy(s writer.Schema) []record.Carried {
	columns := s.Columns()
	carried := make([]record.Carried, len(s.Carry))
	for i, c := range columns[len(columns)-len(s.Carry):] {
		carried[i] = record.Carried{Name: c.Name, Type: c.ValueType()}
	}
	return carried
}
