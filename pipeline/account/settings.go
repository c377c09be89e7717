package account

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/writer/form"
)

// Settings decide the rows of a run. Two runs with equal settings, service and input are the same run.
type Settings struct {
	Kind           string   `json:"kind"`
	Classification string   `json:"classification"`    // names, separated by commas
	Edition        string   `json:"edition,omitempty"` // versions of taxonomies other than the default versions, separated by commas
	Inputs         []string `json:"inputs"`            // as named on the command line
	InputPaths     []string `json:"input_paths"`       // relative to the folder of the output
	Columns        []string `json:"column,omitempty"`  // of the input; empty for a usual name
	Join           string   `json:"join,omitempty"`    // between the values of several columns
	Output         string   `json:"output"`
	OutputFormat   string   `json:"output_format"`
	Carry          string   `json:"carry"`
	form.Form               // its Shape is empty for writer.ShapeLong
	PartRows       int64    `json:"part_rows,omitempty"`
	Requested
	Free      string  `json:"free,omitempty"`      // the source of the free answers, which a model gives; "" for none
	Precision float64 `json:"precision,omitempty"` // the required precision of the free answers
	Audit     float64 `json:"audit,omitempty"`     // the share of the free requests that is also asked
	Shard     Shard   `json:"shard,omitzero"`      // such as "3/16"; zero for the whole input
}

// Requested are the options of the user that decide which requests are made. Accounts have them by their JSON names.
type Requested struct {
	Scheme          string `json:"scheme,omitempty"`           // of bare domains: "https" (the default) or "http"
	AskPlaceholders bool   `json:"ask_placeholders,omitempty"` // ask for placeholders of a missing value, such as NULL, which are invalid otherwise
	Dedupe          string `json:"dedupe,omitempty"`           // which websites are one request: one of Dedupes; "" is DedupeSite
	Limit           int64  `json:"limit,omitempty"`            // maximum number of records to read; 0 for all
	Sample          int64  `json:"sample,omitempty"`           // the size of a random sample, in input order, the same for the same list; 0 for all records
}

// mostSampled is the maximum size of a sample: with their other columns the records take about a gigabyte.
const mostSampled = 1_000_000

// Check calls refuse for each member that cannot be used.
func (r *Requested) Check(refuse func(wrong bool, member, message string, args ...any)) {
	refuse(r.Scheme != "" && r.Scheme != "https" && r.Scheme != "http", "Scheme", "%q must be https or http", r.Scheme)
	refuse(r.Dedupe != "" && !slices.Contains(Dedupes(), r.Dedupe), "Dedupe", "%q must be one of %s", r.Dedupe, strings.Join(Dedupes(), ", "))
	refuse(r.Limit < 0, "Limit", "%d must not be negative", r.Limit)
	refuse(r.Sample < 0, "Sample", "%d must not be negative", r.Sample)
	refuse(r.Sample > mostSampled, "Sample", "%d must be at most %d: a sample is held in memory", r.Sample, mostSampled)
}

// DedupeSite is the default of Requested.Dedupe: all spellings of a website are one request.
const DedupeSite = "site"

// Dedupes returns the values of Requested.Dedupe, from the finest to the coarsest. With the first value, websites with equal
// normalized inputs are one request; the others are the steps of normalize.Normalizer.Coarser.
func Dedupes() []string { return []string{DedupeExact, DedupeSite, "host", "domain"} }

// DedupeExact is the first of Dedupes.
const DedupeExact = "exact"

// OfRequests returns the settings that decide which requests are made, and which requests are free. It leaves out settings that
// only decide how the answers are written.
func (s Settings) OfRequests() Settings {
	return Settings{
		Kind: s.Kind, Classification: s.Classification, Inputs: s.Inputs, InputPaths: s.InputPaths, Columns: s.Columns, Join: s.Join,
		Requested: s.Requested, Free: s.Free, Precision: s.Precision, Audit: s.Audit,
	}
}

// NamedColumns returns the columns that Settings.Carry names; nil for all or none.
func NamedColumns(carry string) []string {
	switch carry {
	case "all", "none", "":
		return nil
	}
	return strings.Split(carry, ",")
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

// RunID identifies the run: all accounts of the same run have the same RunID, and accounts of other runs have another.
func (a *Account) RunID() string {
	settings := a.Settings
	settings.Output, settings.Inputs = "", nil
	return checksumOf(struct {
		Service  string
		Settings Settings
	}{a.Service, settings})
}

// Changes returns the differences between this run and an earlier run with the given service and settings. The name of the
// output does not matter.
func (a *Account) Changes(service string, last Settings) []SettingChange {
	var changes []SettingChange
	compare := func(name string, then, now any) {
		if !reflect.DeepEqual(then, now) {
			changes = append(changes, SettingChange{name, shown(then), shown(now)})
		}
	}
	compare("service", service, a.Service)
	then, now := reflect.ValueOf(last), reflect.ValueOf(a.Settings)
	for _, field := range reflect.VisibleFields(then.Type()) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch name {
		case "", "output", "inputs": // an embedded struct has no name
		case "input_paths":
			compare("input", last.InputPaths, a.Settings.InputPaths)
		default:
			compare(name, then.FieldByIndex(field.Index).Interface(), now.FieldByIndex(field.Index).Interface())
		}
	}
	return changes
}

// shown is a setting's value in words.
func shown(value any) string {
	if list, ok := value.([]string); ok {
		value = strings.Join(list, ", ")
	}
	return cmp.Or(fmt.Sprint(value), "not given")
}
