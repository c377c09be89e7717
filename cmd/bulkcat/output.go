package main

import (
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/writer"
)

// bindOutput binds the flags that say where rows go, and in which form.
func bindOutput(flags *pflag.FlagSet, kind client.Kind, o *pipeline.OutputOptions) {
	flags.StringVarP(&o.Path, "output", "o", "", "a `FILE`, a folder of parts (out/), or - for standard output; while the run goes on, .FILE.run/status.json beside it says how far it is")
	flags.StringVar((*string)(&o.Format), "output-format", "", "parquet, csv or jsonl (default: by the output's extension; parquet for a folder)")
	flags.Int64Var(&o.PartRows, "part-rows", writer.DefaultPartRows, "rows of a part, at least, in a folder")
	flags.IntVar(&o.Levels, "levels", pipeline.LevelsOfTaxonomy, "columns level_1, level_2, ... of a category's path; -1 for as many as the taxonomy has levels")
	bindList(flags, &o.Carry, "carry", "all", "columns of the input to carry along: all, none or `a,b`")
	if kind == client.Product {
		flags.StringVar(&o.Language, "language", "", "add the column value_local, the path of the category in a `LANGUAGE` such as de")
	}
	flags.BoolVar(&o.SourceColumns, "source-columns", false, "add the columns source, basis (what the answer rests on: service, page, name, title or model) and answered_at, which differ from run to run")
	flags.StringVar((*string)(&o.Shape), "shape", string(writer.ShapeLong), "`SHAPE` of the rows: long (a row per category), top (one row per record, with its category of the highest confidence) or nested (one row per record, with a list of its categories; Parquet and JSONL)")
	flags.IntVar(&o.Top, "top", 0, "the `N` categories of each record with the highest confidence; 0 for all")
	flags.Var((*confidenceValue)(&o.MinConfidence), "min-confidence", "only categories with a confidence of `X` or more, such as 0.5 or 50%; a record without such a category has the status empty")
	flags.BoolVar(&o.EscapeFormulas, "escape-formulas", false, "for spreadsheets: a ' before the text of CSV cells that may be formulas")
	flags.BoolVar(&o.Overwrite, "overwrite", false, "replace an output that another run has written")
}
