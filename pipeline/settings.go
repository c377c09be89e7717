package pipeline

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// sameRun reports whether two accounts are of the same run.
func (a *Account) sameRun(last *Account) bool {
	return len(a.changes(last.Service, last.Settings)) == 0
}

// takenBy is the error of an output that another run has written, whose account is last; nil if it was
// the same run.
func (a *Account) takenBy(last *Account, output string) error {
	if changes := a.changes(last.Service, last.Settings); len(changes) > 0 {
		return &OutputTakenError{Path: output, Reason: writtenByAnother, Changes: changes}
	}
	return nil
}

const writtenByAnother = "was written by another run"

// Change is a difference between the settings of two runs.
type Change struct {
	Setting   string // "service", "input", or the JSON name of a member of Settings
	Then, Now string
}

func (c Change) String() string { return fmt.Sprintf("%s was %s and is %s", c.Setting, c.Then, c.Now) }

// run gives a name of the run, which is equal for all accounts of the same run, and only for these.
func (a *Account) run() string {
	settings := a.Settings
	settings.Output = ""
	if settings.InputPaths != nil {
		settings.Inputs = nil
	}
	text, err := json.Marshal(struct {
		Service  string
		Settings Settings
	}{a.Service, settings})
	if err != nil {
		return "" // cannot happen: strings and numbers
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// changes gives the differences between this run and an earlier run, whose account or manifest lies at
// the same output. The name of the output does not matter.
func (a *Account) changes(service string, last Settings) []Change {
	var changes []Change
	compare := func(name string, then, now any) {
		if !reflect.DeepEqual(then, now) {
			changes = append(changes, Change{name, shown(then), shown(now)})
		}
	}
	compare("service", service, a.Service)
	then, now := reflect.ValueOf(last), reflect.ValueOf(a.Settings)
	for i := range then.NumField() {
		name, _, _ := strings.Cut(then.Type().Field(i).Tag.Get("json"), ",")
		switch name {
		case "output", "input_paths":
		case "inputs":
			if last.InputPaths == nil || a.Settings.InputPaths == nil {
				compare("input", last.Inputs, a.Settings.Inputs)
			} else {
				compare("input", last.InputPaths, a.Settings.InputPaths)
			}
		default:
			compare(name, then.Field(i).Interface(), now.Field(i).Interface())
		}
	}
	return changes
}

// shown is a setting's value in words.
func shown(value any) string {
	switch list := value.(type) {
	case []string:
		value = strings.Join(list, ", ")
	case ColumnNames:
		value = list.String()
	}
	if value == "" {
		return "not given"
	}
	return fmt.Sprint(value)
}

// FolderSettings are the settings with which the parts in a folder were written, also if the run has not ended; nil if
// the folder does not say.
func FolderSettings(ctx context.Context, folder string) (*Settings, error) {
	shards, err := ReadShards(ctx, folder)
	if err != nil {
		return nil, err
	}
	if shards != nil {
		return &shards.Settings, nil
	}
	m, err := readManifest(ctx, writer.Clean(folder))
	if _, unreadable := errors.AsType[*OutputTakenError](err); unreadable || errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return &m.Settings, nil
}

// Schema is the schema of the output, without the carried columns.
func (s Settings) Schema() writer.Schema {
	schema := writer.Schema{
		Levels: s.Levels, SourceColumns: s.SourceColumns,
		Shape: s.shape(), Top: s.Top, MinConfidence: s.MinConfidence,
		EscapeFormulas: s.EscapeFormulas, Codes: client.Codes(),
	}
	for _, name := range s.Classifications() {
		schema.Titles = schema.Titles || schema.Codes[name] != nil
	}
	return schema
}

func (s Settings) shape() writer.Shape { return cmp.Or(writer.Shape(s.Shape), writer.ShapeLong) }

// Metadata is the metadata of the output. It holds only what is the same in every run over the same input.
func (s Settings) Metadata() map[string]string {
	metadata := map[string]string{
		"bulkcat.format":         "2",
		"bulkcat.kind":           s.Kind,
		"bulkcat.classification": s.Classification,
		"bulkcat.shape":          string(s.shape()),
	}
	if s.Top > 0 {
		metadata["bulkcat.top"] = strconv.Itoa(s.Top)
	}
	if s.MinConfidence > 0 {
		metadata["bulkcat.min_confidence"] = strconv.FormatFloat(s.MinConfidence, 'g', -1, 64)
	}
	return metadata
}

// seenFrom gives a path relative to the folder of an output. So a file has the same path whether its name
// is relative or absolute, and keeps the path when the folder moves with all its files.
func seenFrom(output, path string) string {
	if path == "-" || storage.IsURL(path) {
		return path
	}
	path = resolved(path)
	if storage.IsURL(output) {
		return filepath.ToSlash(path)
	}
	if seen, err := filepath.Rel(filepath.Dir(resolved(output)), path); err == nil {
		return filepath.ToSlash(seen)
	}
	return filepath.ToSlash(path) // on another drive
}

// resolved is the absolute path of a file, with the symbolic links of its folder resolved if the folder
// exists.
func resolved(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	if folder, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		return filepath.Join(folder, filepath.Base(path))
	}
	return path
}
