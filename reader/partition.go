package reader

import (
	"net/url"
	"path/filepath"
	"strings"
)

// partition is a column in the path of a part, as in country=DE/part-0.parquet. Spark, DuckDB and pyarrow read and write such
// folders.
type partition struct {
	name  string
	value string
	null  bool
	place int // index in the run's columns
}

// nullPartition stands for null in paths.
const nullPartition = "__HIVE_DEFAULT_PARTITION__"

// partitionsOf returns the partitions in the path of a part, below the first of paths that contains the part.
func partitionsOf(paths []string, name string) (partitions []partition) {
	for _, folder := range paths {
		below, err := filepath.Rel(folder, name)
		if err != nil || !filepath.IsLocal(below) || below == "." {
			continue
		}
		for segment := range strings.SplitSeq(filepath.ToSlash(filepath.Dir(below)), "/") {
			name, text, found := strings.Cut(segment, "=")
			if !found {
				continue
			}
			value, err := url.PathUnescape(text)
			if err != nil {
				value = text
			}
			p := partition{name: name, value: value}
			if value == nullPartition {
				p.value, p.null = "", true
			}
			partitions = append(partitions, p)
		}
		return partitions
	}
	return nil
}

// placePartitions adds the columns of a file's partitions. A column in the file has priority.
func (r *Reader) placePartitions(f *file) {
	kept := f.partitions[:0]
	for _, p := range f.partitions {
		if _, err := matchColumn("", f.columns, p.name); err == nil {
			continue
		}
		p.place, _ = r.addColumn(Column{Name: p.name})
		kept = append(kept, p)
	}
	f.partitions = kept
}

// addPartitions sets the fields of a record for the partitions of its file.
func (f *file) addPartitions(rec *Record) {
	for _, p := range f.partitions {
		rec.Fields[p.place] = p.value
		if rec.Nulls != nil {
			rec.Nulls[p.place] = p.null
		}
	}
}
