// Package lineage tells catalogues such as Marquez, DataHub and OpenMetadata what a run reads and writes, in events of
// OpenLineage 2-0-2. An [Emitter] posts the events of one run to a URL, or appends them to a file.
package lineage

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer"
)

// State is the type of an event.
type State string

// The states of a run. A run that ended early and can be started again is aborted.
const (
	Start    State = "START"
	Running  State = "RUNNING"
	Complete State = "COMPLETE"
	Fail     State = "FAIL"
	Abort    State = "ABORT"
)

// Facts say what a run reads and writes, and how far it is.
type Facts struct {
	RunID   string   // see RunID; "" for one that only this emitter has
	Kind    string   // website or product
	Inputs  []string // paths and URLs; "-" for standard input
	Output  string   // a path or URL; "-" for standard output
	Error   string   // that ended the run; "" for none
	Counts  record.Snapshot
	Account *record.Account // of the run; nil before the end
}

// The versions of the schemas are those of openlineage-python 1.54.0.
const (
	specification = "https://openlineage.io/spec/"
	eventSchema   = specification + "2-0-2/OpenLineage.json#/$defs/RunEvent"
	program       = "https://github.com/bulkcat/bulkcat"
)

// event is a RunEvent.
type event struct {
	EventTime time.Time `json:"eventTime"`
	EventType State     `json:"eventType"`
	Run       run       `json:"run"`
	Job       job       `json:"job"`
	Inputs    []dataset `json:"inputs"`
	Outputs   []dataset `json:"outputs"`
	Producer  string    `json:"producer"`
	SchemaURL string    `json:"schemaURL"`
}

type run struct {
	ID     string `json:"runId"`
	Facets facets `json:"facets"`
}

type job struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	Facets    facets `json:"facets,omitempty"`
}

type dataset struct {
	Namespace    string `json:"namespace"`
	Name         string `json:"name"`
	Facets       facets `json:"facets"`
	InputFacets  facets `json:"inputFacets,omitempty"`
	OutputFacets facets `json:"outputFacets,omitempty"`
}

// facets are by the names of the specification.
type facets map[string]map[string]any

// add adds a facet with its schema, such as "1-0-2/OutputStatisticsOutputDatasetFacet".
func (f facets) add(name, schema string, members map[string]any) {
	_, kind, _ := strings.Cut(schema, "/")
	members["_producer"], members["_schemaURL"] = program, specification+"facets/"+schema+".json#/$defs/"+kind
	f[name] = members
}

// datasetOf names a place by the rules of OpenLineage; false for standard input and output.
func datasetOf(place string) (dataset, bool) {
	d := dataset{Namespace: "file", Facets: facets{}}
	if place == "" || place == "-" {
		return d, false
	}
	if scheme, rest, ok := strings.Cut(place, "://"); ok && storage.IsURL(place) {
		rest, _, _ = strings.Cut(rest, "?")
		bucket, key, _ := strings.Cut(rest, "/")
		d.Namespace, d.Name = scheme+"://"+bucket, strings.TrimSuffix(key, "/")
		return d, true
	}
	path, err := filepath.Abs(storage.Local(folderOf(place)))
	if err != nil {
		path = place
	}
	d.Name = filepath.ToSlash(path)
	return d, true
}

// folderOf returns the folder of the files of a pattern, such as feeds of feeds/*.csv, and any other path as it is.
func folderOf(place string) string {
	if i := strings.IndexAny(place, "*?["); i >= 0 {
		if _, err := os.Lstat(place); err != nil {
			return filepath.Dir(place[:i] + "x") // of the part before the pattern
		}
	}
	return place
}

// inputs are the datasets that are read. At the end they have the numbers of bytes.
func (f *Facts) inputs() []dataset {
	list := []dataset{}
	for i, place := range f.Inputs {
		d, ok := datasetOf(place)
		if !ok {
			continue
		}
		if f.Account != nil && len(f.Account.Inputs) == len(f.Inputs) {
			d.InputFacets = facets{}
			d.InputFacets.add("inputStatistics", "1-0-0/InputStatisticsInputDatasetFacet", map[string]any{"size": f.Account.Inputs[i].Bytes})
		}
		list = append(list, d)
	}
	return list
}

// outputs is the dataset that is written, with its statistics. After a complete run it has the schema and the quality, too.
func (f *Facts) outputs(complete bool) []dataset {
	d, ok := datasetOf(f.Output)
	if !ok {
		return []dataset{}
	}
	d.OutputFacets = facets{}
	statistics := map[string]any{"rowCount": f.Counts.Rows}
	if complete && f.Account != nil {
		var size int64
		for _, file := range f.Account.Outputs {
			size += file.Bytes
		}
		statistics["size"], statistics["fileCount"] = size, len(f.Account.Outputs)
		schema := f.Account.Settings.Schema()
		for _, c := range f.Account.Carried {
			schema.Carry, schema.CarryTypes = append(schema.Carry, c.Name), append(schema.CarryTypes, c.Type)
		}
		d.Facets.add("schema", "1-2-0/SchemaDatasetFacet", map[string]any{"fields": fieldsOf(schema.Columns())})
		metrics := map[string]any{}
		if schema.Shape != writer.ShapeNested { // whose rows have a list instead
			nulls := f.Counts.Settled() - f.Counts.OK
			metrics["value"] = map[string]any{"nullCount": nulls, "count": f.Counts.Rows - nulls}
		}
		d.Facets.add("dataQualityMetrics", "1-0-1/DataQualityMetricsDatasetFacet", map[string]any{
			"rowCount": f.Counts.Rows, "bytes": size, "columnMetrics": metrics,
		})
	}
	d.OutputFacets.add("outputStatistics", "1-0-2/OutputStatisticsOutputDatasetFacet", statistics)
	return []dataset{d}
}

// typeNames are the names of the types in schemas.
var typeNames = map[writer.Type]string{
	writer.TypeString: "string", writer.TypeInt64: "int64", writer.TypeDouble: "double", writer.TypeTimestamp: "timestamp",
	writer.TypeList: "list", writer.TypeBool: "bool", writer.TypeDate: "date", writer.TypeDateTime: "datetime", writer.TypeDecimal: "decimal",
}

func fieldsOf(columns []writer.Column) []map[string]any {
	fields := make([]map[string]any, len(columns))
	for i, c := range columns {
		fields[i] = map[string]any{"name": c.Name, "type": typeNames[c.Type]}
		if len(c.Elements) > 0 {
			fields[i]["fields"] = fieldsOf(c.Elements)
		}
	}
	return fields
}
