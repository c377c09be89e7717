package output

import (
	"cmp"
	"strconv"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer"
)

// Schema is the schema of the output of a run with these settings, without the carried columns.
func Schema(s account.Settings) writer.Schema {
	schema := writer.Schema{Form: s.Form, Sources: s.Free != "", Codes: client.Codes()}
	for _, name := range s.Classifications() {
		schema.Titles = schema.Titles || schema.Codes[name] != nil
	}
	return schema
}

// Metadata is the metadata of such an output. It holds only what is the same in every run over the same input.
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
		carried[i] = account.Carried{Name: c.Name, Type: c.ValueType().String()}
	}
	return carried
}

// Entries are the published files as accounts have them.
func Entries(p writer.Published) []account.Output {
	var outputs []account.Output
	for _, file := range p.Files {
		outputs = append(outputs, account.Output(file))
	}
	return outputs
}
