package record

import (
	"cmp"
	"fmt"
	"path/filepath"
	"reflect"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer"
)

// Settings decide the rows of a run. Two runs with equal settings, service and input are the same run.
type Settings struct {
	Kind            string   `json:"kind"`
	Classification  string   `json:"classification"`    // names with a comma between
	Edition         string   `json:"edition,omitempty"` // versions of taxonomies that are not the default ones, with a comma between
	Inputs          []string `json:"inputs"`            // as named on the command line
	InputPaths      []string `json:"input_paths"`       // relative to the folder of the output
	Columns         []string `json:"column,omitempty"`  // of the input; empty for a usual name
	Join            string   `json:"join,omitempty"`    // between the values of several columns
	Scheme          string   `json:"scheme,omitempty"`
	AskPlaceholders bool     `json:"ask_placeholders,omitempty"`
	Dedupe          string   `json:"dedupe,omitempty"` // one of Dedupes; empty for DedupeSite
	Output          string   `json:"output"`
	OutputFormat    string   `json:"output_format"`
	Levels          int      `json:"levels"`
	Carry           string   `json:"carry"`
	Language        string   `json:"language,omitempty"` // of the column value_local; "" for no such column
	SourceColumns   bool     `json:"source_columns,omitempty"`
	Shape           string   `json:"shape,omitempty"` // empty for writer.ShapeLong
	Top             int      `json:"top,omitempty"`   // 0 for all categories
	MinConfidence   float64  `json:"min_confidence,omitempty"`
	EscapeFormulas  bool     `json:"escape_formulas,omitempty"` // of CSV and TSV
	PartRows        int64    `json:"part_rows,omitempty"`
	Limit           int64    `json:"limit,omitempty"`
	Sample          int64    `json:"sample,omitempty"`    // records drawn at random; 0 for all
	Free            string   `json:"free,omitempty"`      // the source of the answers of a model; "" for none
	Precision       float64  `json:"precision,omitempty"` // wanted of these answers
	Audit           float64  `json:"audit,omitempty"`     // the share of these that is asked, too
	Shard           string   `json:"shard,omitempty"`     // such as "3/16"; "" for the whole input
}

// DedupeSite is the default of Settings.Dedupe: all spellings of a website are one request.
const DedupeSite = "site"

// Dedupes are the values of Settings.Dedupe: what is one request, each of more websites than the one before. The first are
// equal normalized inputs; the others are those of the steps of normalize.Normalizer.Coarser.
func Dedupes() []string { return []string{DedupeExact, DedupeSite, "host", "domain"} }

// DedupeExact is the first of Dedupes.
const DedupeExact = "exact"

// OfRequests are the settings that decide which requests are made, and which of them are free: without those that only
// decide how the answers are written.
func (s Settings) OfRequests() Settings {
	return Settings{
		Kind: s.Kind, Classification: s.Classification, Inputs: s.Inputs, InputPaths: s.InputPaths, Columns: s.Columns, Join: s.Join,
		Scheme: s.Scheme, AskPlaceholders: s.AskPlaceholders, Dedupe: s.Dedupe,
		Limit: s.Limit, Sample: s.Sample, Free: s.Free, Precision: s.Precision, Audit: s.Audit,
	}
}

// Normalizer makes the requests of the run.
func (s Settings) Normalizer() normalize.Normalizer {
	return normalize.Normalizer{Scheme: s.Scheme, AskPlaceholders: s.AskPlaceholders}
}

// InputColumns are the names that the input column may have if the user does not name it.
func InputColumns(kind client.Kind) []string {
	switch kind {
	case client.Website:
		return []string{"url", "website", "domain", "host", "homepage", "website_url", "domain_name", "site_url", "hostname", "origin", "top_pages", "address"}
	case client.Product:
		return []string{"title", "product_title", "product", "name", "query", "product_name", "item_name", "g:title", "lineitem_name"}
	}
	return nil
}

// NamedColumns are the carried columns that are named one by one; nil for all or none.
func (s Settings) NamedColumns() []string {
	switch s.Carry {
	case "all", "none", "":
		return nil
	}
	return strings.Split(s.Carry, ",")
}

// Classifications are the classifications that each record is asked for.
func (s Settings) Classifications() []string { return strings.Split(s.Classification, ",") }

// SettingChange is a difference between the settings of two runs.
type SettingChange struct {
	Setting   string // "service", "input", or the JSON name of a member of Settings
	Then, Now string
}

func (c SettingChange) String() string {
	return fmt.Sprintf("%s was %s and is %s", c.Setting, c.Then, c.Now)
}

// Texts returns the texts of changes.
func Texts(changes []SettingChange) []string {
	texts := make([]string, len(changes))
	for i, c := range changes {
		texts[i] = c.String()
	}
	return texts
}

// RunID is a name of the run, which is equal for all accounts of the same run, and only for these.
func (a *Account) RunID() string {
	settings := a.Settings
	settings.Output, settings.Inputs = "", nil
	return checksumOf(struct {
		Service  string
		Settings Settings
	}{a.Service, settings})
}

// Changes are the differences between this run and an earlier run, whose account or manifest lies at
// the same output. The name of the output does not matter.
func (a *Account) Changes(service string, last Settings) []SettingChange {
	var changes []SettingChange
	compare := func(name string, then, now any) {
		if !reflect.DeepEqual(then, now) {
			changes = append(changes, SettingChange{name, shown(then), shown(now)})
		}
	}
	compare("service", service, a.Service)
	then, now := reflect.ValueOf(last), reflect.ValueOf(a.Settings)
	for i := range then.NumField() {
		name, _, _ := strings.Cut(then.Type().Field(i).Tag.Get("json"), ",")
		switch name {
		case "output", "inputs":
		case "input_paths":
			compare("input", last.InputPaths, a.Settings.InputPaths)
		default:
			compare(name, then.Field(i).Interface(), now.Field(i).Interface())
		}
	}
	return changes
}

// shown is a setting's value in words.
func shown(value any) string {
	if list, ok := value.([]string); ok {
		value = strings.Join(list, ", ")
	}
	if value == "" {
		return "not given"
	}
	return fmt.Sprint(value)
}

// Schema is the schema of the output, without the carried columns.
func (s Settings) Schema() writer.Schema {
	schema := writer.Schema{
		Levels: s.Levels, Locals: s.Language != "", Sources: s.Free != "", SourceColumns: s.SourceColumns,
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

// SeenFrom is a path relative to the folder of an output. So a file has the same path whether its name
// is relative or absolute, and keeps the path when the folder moves with all its files.
func SeenFrom(output, path string) string {
	if !isFile(path) {
		return path
	}
	path = storage.Resolved(path)
	if storage.IsURL(output) {
		return filepath.ToSlash(path)
	}
	if seen, err := filepath.Rel(filepath.Dir(storage.Resolved(output)), path); err == nil {
		return filepath.ToSlash(seen)
	}
	return filepath.ToSlash(path) // on another drive
}

// FromOutput is the path of an input, from the one that SeenFrom has given.
func FromOutput(output, path string) string {
	if local := filepath.FromSlash(path); !storage.IsURL(path) && !filepath.IsAbs(local) {
		return filepath.Join(filepath.Dir(storage.Local(output)), local)
	}
	return path
}

// isFile reports whether an input is a file of the machine.
func isFile(path string) bool {
	return path != "-" && path != reader.InMemory && !storage.IsURL(path)
}
