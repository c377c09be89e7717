package diff

import "math"

// Row is a Change as a row of a file. A nil pointer is null.
type Row struct {
	Change         string   `json:"change" parquet:"change,dict"`
	Level          *int64   `json:"level" parquet:"level,optional"` // the first level that differs
	Input          *string  `json:"input" parquet:"input,optional"`
	Classification string   `json:"classification" parquet:"classification,dict"`
	OldRecord      *int64   `json:"old_record" parquet:"old_record,optional"`
	NewRecord      *int64   `json:"new_record" parquet:"new_record,optional"`
	OldStatus      *string  `json:"old_status" parquet:"old_status,optional,dict"`
	NewStatus      *string  `json:"new_status" parquet:"new_status,optional,dict"`
	OldValue       *string  `json:"old_value" parquet:"old_value,optional,dict"`
	NewValue       *string  `json:"new_value" parquet:"new_value,optional,dict"`
	OldCategoryID  *string  `json:"old_category_id" parquet:"old_category_id,optional,dict"`
	NewCategoryID  *string  `json:"new_category_id" parquet:"new_category_id,optional,dict"`
	OldConfidence  *float64 `json:"old_confidence" parquet:"old_confidence,optional"`
	NewConfidence  *float64 `json:"new_confidence" parquet:"new_confidence,optional"`
}

// Row returns the change as a row.
func (c Change) Row() Row {
	r := Row{Change: string(c.Kind), Input: text(c.Input), Classification: c.Classification}
	if c.Level > 0 {
		r.Level = new(int64(c.Level))
	}
	if v := c.Old; v != nil {
		r.OldRecord, r.OldStatus, r.OldValue, r.OldCategoryID, r.OldConfidence = &v.Record, (*string)(&v.Status), text(v.Value), text(v.CategoryID), number(v.Confidence)
	}
	if v := c.New; v != nil {
		r.NewRecord, r.NewStatus, r.NewValue, r.NewCategoryID, r.NewConfidence = &v.Record, (*string)(&v.Status), text(v.Value), text(v.CategoryID), number(v.Confidence)
	}
	return r
}

// text returns a pointer to s; nil for "".
func text(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

func number(x float64) *float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return nil
	}
	return &x
}
