package writer

import (
	"slices"
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/client"
)

func TestColumns(t *testing.T) {
	const front = "record input status classification rank value category_id confidence "
	tests := []struct {
		name   string
		schema Schema
		want   string // names, joined by spaces
	}{
		{"what every output has", Schema{}, front + "error"},
		{"levels", Schema{Form: Form{Levels: 2}}, front + "level_1 level_2 error"},
		{"levels out of bounds", Schema{Form: Form{Levels: -1}}, front + "error"},
		{"naics has titles", Schema{Form: Form{Levels: 1}, Titles: true, Codes: client.Codes()}, "record input status classification rank value category_id title confidence level_1 error"},
		{"a title of the input's where there is no other", Schema{Carry: []string{"title"}}, front + "error title"},
		{"source", Schema{Form: Form{SourceColumns: true}}, front + "error source basis answered_at"},
		{"carried", Schema{Carry: []string{"id", "a.b"}}, front + "error id a.b"},
		{"a clash with ours", Schema{Carry: []string{"value"}}, front + "error input_value"},
		{"no clash with a column that is off", Schema{Carry: []string{"source", "level_1"}}, front + "error source level_1"},
		{"a clash of two carried ones", Schema{Carry: []string{"id", "id", "id"}}, front + "error id input_id input_input_id"},
		{"a clash with a prefixed one", Schema{Carry: []string{"input_value", "value"}}, front + "error input_value input_input_value"},
		{"a clash but for case", Schema{Carry: []string{"Status", "ID", "id"}}, front + "error input_Status ID input_id"},
		{"a name repeated often", Schema{Carry: slices.Repeat([]string{"x"}, 6)}, front + "error x input_x input_input_x input_input_input_x input_x_4 input_x_5"},
		{"names that are empty", Schema{Carry: []string{"input_2", "", ""}}, front + "error input_2 input_input_2 input_3"},
		{"a name that is not UTF-8", Schema{Carry: []string{"x\xff"}}, front + "error x\uFFFD"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var names []string
			for _, c := range tt.schema.Columns() {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestColumnsLevelsBound(t *testing.T) {
	n := len(Schema{Form: Form{Levels: 1 << 40}}.Columns()) - len(Schema{}.Columns())
	if n != MaxLevels {
		t.Errorf("%d levels, want %d", n, MaxLevels)
	}
}

func TestColumnsNullable(t *testing.T) {
	required := []string{"record", "status", "classification"}
	for _, c := range (Schema{Form: Form{Levels: 2, SourceColumns: true}, Carry: []string{"id"}}).Columns() {
		if c.Nullable == slices.Contains(required, c.Name) {
			t.Errorf("%s: nullable is %v", c.Name, c.Nullable)
		}
	}
}

// A header may repeat names, and spreadsheets write trailing commas.
func TestColumnsOfEqualNames(t *testing.T) {
	for _, name := range []string{"", "x", "value"} {
		seen := make(map[string]bool)
		for _, c := range (Schema{Carry: slices.Repeat([]string{name}, 1<<16)}).Columns() {
			if seen[c.Name] || len(c.Name) > 32 {
				t.Fatalf("column name %q is long or not the only one", c.Name)
			}
			seen[c.Name] = true
		}
	}
}
