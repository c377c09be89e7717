// Package form has the types that package writer shares with the accounts of runs, which need no encoders. Package writer has the
// values of these types, and their behaviour.
package form

// Status is the outcome of a record.
type Status string

// Shape determines how the categories of a record become rows.
type Shape string

// Form are the options of the user that decide the form of the rows. Accounts have them by their JSON names.
type Form struct {
	Levels         int     `json:"levels"`                    // number of level_N columns; below 0 counts as 0, above writer.MaxLevels as MaxLevels
	Language       string  `json:"language,omitempty"`        // add the column value_local, the paths of categories in this language; "" for no such column
	SourceColumns  bool    `json:"source_columns,omitempty"`  // add the columns source, basis and answered_at, which differ from run to run
	Shape          Shape   `json:"shape,omitempty"`           // "" is writer.ShapeLong
	Top            int     `json:"top,omitempty"`             // most entries of a record: the entries with the highest confidences, in the order of the answer; 0 for all
	MinConfidence  float64 `json:"min_confidence,omitempty"`  // leave out entries with a lower confidence or none; 0 for no bound
	EscapeFormulas bool    `json:"escape_formulas,omitempty"` // in CSV and TSV, write ' before text of cells and names that may be a formula: see writer.UnescapeFormula
}
