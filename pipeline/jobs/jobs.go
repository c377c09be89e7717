// Package jobs reads job files. A job is a run; a program executes the jobs of a file one after the other. The file is TOML. It
// has a table [[job]] for each job, and a table [defaults] with keys for all jobs:
//
//	[defaults]
//	rate = "50/s"
//
//	[[job]]
//	kind = "website"
//	input = ["domains.csv"]
//	output = "domains.parquet"
//
// This package checks the keys kind and input. All other keys are settings, which the program checks.
package jobs

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// File is a job file.
type File struct {
	path     string
	defaults table
	jobs     []table
}

// Job is a job with the defaults of its file.
type Job struct {
	Line     int // of its table, from 1
	Kind     client.Kind
	Inputs   []string  // at least one
	Settings []Setting // in the order of their lines
}

// Setting is a key of a job, other than kind and input.
type Setting struct {
	Key     string
	Value   any  // string, bool, int64, float64, a time, []any or map[string]any
	Line    int  // from 1
	Default bool // the key is in [defaults]
}

// table is a table of a file.
type table struct {
	line   int
	values map[string]any
	lines  map[string]int // of the keys
}

func newTable() table { return table{values: make(map[string]any), lines: make(map[string]int)} }

// The keys that are not settings.
const (
	kindKey  = "kind"
	inputKey = "input"
)

// mostBytes is the maximum size of a file in bytes; 100,000 jobs fit.
const mostBytes = 16 << 20

// Read reads a job file. A file without a job is an error. Errors in the content name the file and the line.
func Read(path string) (*File, error) {
	content, err := regular.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	return parse(path, content)
}

// parse parses the content of a file.
func parse(path string, content []byte) (*File, error) {
	text, err := regular.Text(content)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	f := &File{path: path, defaults: newTable()}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			return nil, f.ErrorAt(line, "%s", strings.TrimPrefix(e.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := f.readLines(text); err != nil {
		return nil, err
	}
	if len(f.jobs) == 0 {
		return nil, fmt.Errorf("%s has no job: begin each job with [[job]]", path)
	}
	if defaults, ok := values["defaults"].(map[string]any); ok {
		f.defaults.values = defaults
	}
	for i, job := range values["job"].([]any) { // readLines has rejected other types
		f.jobs[i].values = job.(map[string]any)
	}
	return f, nil
}

// Len returns the number of jobs.
func (f *File) Len() int { return len(f.jobs) }

// ErrorAt returns an error that names the file and a line.
func (f *File) ErrorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.path, line, fmt.Errorf(format, args...))
}

// readLines records the lines of the tables and of their keys. It rejects unknown tables.
func (f *File) readLines(text []byte) error {
	var p unstable.Parser
	p.Reset(text)
	var current *table
	inTable := false      // in the table that is the value of a key
	line, counted := 1, 0 // line is that of the offset counted; Parser.Shape would count from the beginning each time
	for p.NextExpression() {
		node := p.Expression()
		var key []string
		for parts := node.Key(); parts.Next(); {
			if at := int(parts.Node().Raw.Offset); len(key) == 0 {
				line += bytes.Count(text[counted:at], []byte{'\n'})
				counted = at
			}
			key = append(key, string(parts.Node().Data))
		}
		name := strings.Join(key, ".")
		is := func(kind unstable.Kind, parts ...string) bool { return node.Kind == kind && slices.Equal(key, parts) }
		switch {
		case is(unstable.Table, "defaults"):
			current, inTable = &f.defaults, false
		case is(unstable.ArrayTable, "job"):
			f.jobs = append(f.jobs, newTable())
			current, inTable = &f.jobs[len(f.jobs)-1], false
			current.line = line
		case is(unstable.Table, "defaults", ExpectKey):
			f.defaults.lines[ExpectKey], inTable = line, true
		case is(unstable.Table, "job", ExpectKey) && len(f.jobs) > 0:
			f.jobs[len(f.jobs)-1].lines[ExpectKey], inTable = line, true
		case node.Kind == unstable.KeyValue && inTable: // the value of the table has the key
		case node.Kind != unstable.KeyValue:
			return f.ErrorAt(line, "there is no table %s: write [defaults], or [[job]] for each job", name)
		case current == nil:
			return f.ErrorAt(line, "%s stands above the tables: write [defaults] or [[job]] before the key", name)
		case len(key) > 1:
			return f.ErrorAt(line, "unknown key %s", name)
		default:
			current.lines[name] = line
		}
	}
	return p.Error()
}

// Job returns the job with an index from 0. It returns an error if the kind or the input is missing or invalid; the error names
// the file and the line.
func (f *File) Job(index int) (Job, error) {
	all := f.merged(f.jobs[index])
	job := Job{Line: all.line}
	var err error
	if job.Kind, err = f.kind(all); err != nil {
		return Job{}, err
	}
	if job.Inputs, err = f.inputs(all); err != nil {
		return Job{}, err
	}
	for _, key := range all.keys() {
		if line := all.lines[key]; key != kindKey && key != inputKey {
			job.Settings = append(job.Settings, Setting{key, all.values[key], line, line == f.defaults.lines[key]})
		}
	}
	return job, nil
}

// merged returns a job completed by the defaults.
func (f *File) merged(job table) table {
	all := table{line: job.line, values: maps.Clone(f.defaults.values), lines: maps.Clone(f.defaults.lines)}
	maps.Copy(all.values, job.values)
	maps.Copy(all.lines, job.lines)
	return all
}

// keys returns the keys of t in the order of their lines.
func (t table) keys() []string {
	return slices.SortedFunc(maps.Keys(t.values), func(a, b string) int { return t.lines[a] - t.lines[b] })
}

// kind returns the kind of a merged job.
func (f *File) kind(job table) (client.Kind, error) {
	switch kind := job.values[kindKey]; kind {
	case nil:
		return "", f.ErrorAt(job.line, "the job has no kind: write kind = \"website\" or kind = \"product\"")
	case string(client.Website), string(client.Product):
		return client.Kind(kind.(string)), nil
	default:
		return "", f.ErrorAt(job.lines[kindKey], "kind: %v must be \"website\" or \"product\"", Quoted(kind))
	}
}

// inputs returns the inputs of a merged job.
func (f *File) inputs(job table) ([]string, error) {
	value, ok := job.values[inputKey]
	if !ok {
		return nil, f.ErrorAt(job.line, "the job has no input: write input = [\"list.csv\"]")
	}
	texts, ok := Texts(value)
	if !ok || len(texts) == 0 {
		return nil, f.ErrorAt(job.lines[inputKey], "input: %v must be a text in quotes, or a list of such texts", Quoted(value))
	}
	return texts, nil
}

// ExpectKey is the only key whose value may be a table: see Pairs.
const ExpectKey = "expect"

// Pairs returns the entries of a table of texts, sorted. Each is the key, a space and the text: {ok = ">= 95%"} gives "ok >=
// 95%". TOML makes a nested table of a dotted key; Pairs joins its keys with dots again. ok reports whether the value is such a
// table.
func Pairs(value any) (list []string, ok bool) {
	members, ok := value.(map[string]any)
	for key, v := range members {
		switch v := v.(type) {
		case string:
			list = append(list, key+" "+v)
		default:
			inner, isTable := Pairs(v)
			if !isTable {
				return nil, false
			}
			for _, pair := range inner {
				list = append(list, key+"."+pair)
			}
		}
	}
	slices.Sort(list)
	return list, ok
}

// Texts returns the texts of a value that is a text or a list of texts. ok reports whether the value is one of these.
func Texts(value any) (list []string, ok bool) {
	if list, ok := value.([]string); ok { // a result of Pairs
		return list, true
	}
	if text, ok := value.(string); ok {
		return []string{text}, true
	}
	values, ok := value.([]any)
	for _, v := range values {
		text, isText := v.(string)
		if !isText {
			return nil, false
		}
		list = append(list, text)
	}
	return list, ok
}

// Quoted formats a value for an error: a text is quoted.
func Quoted(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}
