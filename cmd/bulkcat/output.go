package main

import (
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/pipeline"
	"github.com/bulkcat/bulkcat/writer"
)

// outputFlags say where rows go, and in which form.
type outputFlags struct {
	pipeline.OutputOptions
	format string
	shape  string
}

func (f *outputFlags) bind(flags *pflag.FlagSet) {
	flags.StringVarP(&f.Path, "output", "o", "", "a `FILE`, a folder of parts (out/), or - for standard output")
	flags.StringVar(&f.format, "output-format", "", "parquet, csv or jsonl (default: by the output's extension; parquet for a folder)")
	flags.Int64Var(&f.PartRows, "part-rows", writer.DefaultPartRows, "rows of a part, at least, in a folder")
	flags.IntVar(&f.Levels, "levels", pipeline.LevelsOfTaxonomy, "columns level_1, level_2, ... of a category's path; -1 for as many as the taxonomy has levels")
	flags.StringVar(&f.Carry, "carry", "all", "columns of the input to carry along: all, none or `a,b`")
	flags.BoolVar(&f.SourceColumns, "source-columns", false, "add the columns source and answered_at, which differ from run to run")
	flags.StringVar(&f.shape, "shape", string(writer.ShapeLong), "`SHAPE` of the rows: long (a row per category), top (one row per record, with its first category) or nested (one row per record, with a list of its categories; Parquet and JSONL)")
	flags.IntVar(&f.Top, "top", 0, "the first `N` categories of each record; 0 for all")
	flags.Float64Var(&f.MinConfidence, "min-confidence", 0, "only categories with a confidence of `X` or more; a record without such a category has the status empty")
	flags.BoolVar(&f.Overwrite, "overwrite", false, "replace an output that another run has written")
}

func (f *outputFlags) options(s streams) pipeline.OutputOptions {
	o := f.OutputOptions
	o.Format, o.Shape, o.Stdout = writer.Format(f.format), writer.Shape(f.shape), s.out
	return o
}
