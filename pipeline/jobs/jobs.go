// Package jobs reads files of jobs: runs that a program makes one after the other. A file is TOML. It has a table
// [[job]] for each job, and a table [defaults] with keys for all jobs:
//
//	[defaults]
//	rate = "50/s"
//
//	[[job]]
//	kind = "website"
//	input = ["domains.csv"]
//	output = "domains.parquet"
//
// The keys kind and input are of this package. All other keys are settings, which the program checks.
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

// File is a file of jobs.
type File struct {
	path     string
	defaults table
	jobs     []table
}

// Job is a job with the defaults of its file.
type Job struct {
	Line     int // 1-based line of its table
	Kind     client.Kind
	Inputs   []string  // at least one
	Settings []Setting // by line
}

// Setting is a key of a job, other than kind and input.
type Setting struct {
	Key     string
	Value   any  // string, bool, int64, float64, a time, or a list or table of such values
	Line    int  // 1-based
	Default bool // the key is in the table of defaults
}

// table is a table of a file.
type table struct {
	line   int
	values map[string]any
	lines  map[string]int // of the keys
}

func newTable() table { return table{values: make(map[string]any), lines: make(map[string]int)} }

// The keys that are no settings.
const (
	kindKey  = "kind"
	inputKey = "input"
)

// mostBytes are the most bytes of a file, which are enough for 100,000 jobs.
const mostBytes = 16 << 20

// Read reads a file, which has at least one job. An error in the file names the file and the line.
func Read(path string) (*File, error) {
	content, err := regular.Read(path, mostBytes)
	if err != nil {
		return nil, err
	}
	return parse(path, content)
}

// parse reads the content of a file.
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
	for i, job := range values["job"].([]any) { // readLines allows no other type
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

// readLines finds the lines of the tables and of their keys, and refuses other tables.
func (f *File) readLines(text []byte) error {
	var p unstable.Parser
	p.Reset(text)
	var current *table
	inTable := false      // in the table of a key
	line, counted := 1, 0 // the line at an offset; Parser.Shape counts from the beginning of the file each time
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
		case node.Kind == unstable.KeyValue && inTable: // its keys are in the value of the table
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

// Job returns the job with an index from 0. An error names the file and the line.
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
	for _, key := range all.inOrder() {
		if line := all.lines[key]; key != kindKey && key != inputKey {
			job.Settings = append(job.Settings, Setting{key, all.values[key], line, line == f.defaults.lines[key]})
		}
	}
	return job, nil
}

// merged is a job with the defaults, and the line of each key.
func (f *File) merged(job table) table {
	all := table{line: job.line, values: maps.Clone(f.defaults.values), lines: maps.Clone(f.defaults.lines)}
	maps.Copy(all.values, job.values)
	maps.Copy(all.lines, job.lines)
	return all
}

// inOrder are the keys in the order of their lines.
func (t table) inOrder() []string {
	return slices.SortedFunc(maps.Keys(t.values), func(a, b string) int { return t.lines[a] - t.lines[b] })
}

// kind is the kind of a job with the defaults.
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

// inputs are the operands of a job with the defaults.
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

// ExpectKey is the key whose value may be a table: see Pairs.
const ExpectKey = "expect"

// Pairs returns the entries of a table of texts, each with a space between, sorted: {ok = ">= 95%"} is "ok >= 95%". A key with a
// point is a table in the table. ok reports whether the value is such a table.
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

// Texts returns the texts of a value that is a text or a list of texts; ok reports whether it is.
func Texts(value any) (list []string, ok bool) {
	if list, ok := value.([]string); ok { // of Pairs
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

// Quoted returns a value for an error: a text is in quotes.
func Quoted(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}
