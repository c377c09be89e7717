package account

import (
	"strings"
	"testing"

	"github.com/bulkcat/bulkcat/writer/form"
)

// TestChangedSettingsAreNamed compares a run with the one that wrote an output.
func TestChangedSettingsAreNamed(t *testing.T) {
	settings := Settings{
		Kind: "website", Classification: "naics", Inputs: []string{"a.csv"}, InputPaths: []string{"../a.csv"},
		Output: "out.csv", OutputFormat: "csv", Form: form.Form{Levels: 4}, Carry: "all",
	}
	for name, tt := range map[string]struct {
		change func(a *Account)
		want   string // "" for none
	}{
		"nothing":            {func(*Account) {}, ""},
		"name of the output": {func(a *Account) { a.Settings.Output = "/data/out.csv" }, ""},
		"name of the input":  {func(a *Account) { a.Settings.Inputs = []string{"/data/a.csv"} }, ""},
		"input": {func(a *Account) {
			a.Settings.Inputs, a.Settings.InputPaths = []string{"a.csv"}, []string{"../b.csv", "../c.csv"}
		}, "input was ../a.csv and is ../b.csv, ../c.csv"},
		"service": {func(a *Account) { a.Service = "embedded" }, "service was https://api.example.com and is embedded"},
		"kind":    {func(a *Account) { a.Settings.Kind = "product" }, "kind was website and is product"},
		"several": {func(a *Account) {
			a.Settings.Levels, a.Settings.Columns, a.Settings.SourceColumns = 2, []string{"host"}, true
		},
			"column was not given and is host; levels was 4 and is 2; source_columns was false and is true"},
		"parts": {func(a *Account) { a.Settings.PartRows, a.Settings.OutputFormat = 10, "parquet" },
			"output_format was csv and is parquet; part_rows was 0 and is 10"},
		"placeholders": {func(a *Account) { a.Settings.AskPlaceholders = true }, "ask_placeholders was false and is true"},
		"formulas":     {func(a *Account) { a.Settings.EscapeFormulas = true }, "escape_formulas was false and is true"},
		"shape": {func(a *Account) { a.Settings.Shape, a.Settings.Top, a.Settings.MinConfidence = "top", 3, 0.5 },
			"shape was not given and is top; top was 0 and is 3; min_confidence was 0 and is 0.5"},
	} {
		last, now := NewAccount("dev", "https://api.example.com", settings), NewAccount("dev", "https://api.example.com", settings)
		tt.change(now)
		if got := strings.Join(Texts(now.Changes(last.Service, last.Settings)), "; "); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
		if same := now.RunID() == last.RunID(); same != (tt.want == "") {
			t.Errorf("%s: the same run by its name: %t", name, same)
		}
	}
}
