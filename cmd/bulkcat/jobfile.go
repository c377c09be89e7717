package main

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
	"github.com/spf13/pflag"

	"github.com/bulkcat/bulkcat/client"
)

// jobFile is a file of jobs: a table of defaults, and a table for each job. The keys of a table are kind, input
// and the names of flags.
type jobFile struct {
	path     string
	defaults table
	jobs     []table
}

// table is a table of a job file.
type table struct {
	line   int
	values map[string]any
	lines  map[string]int // of the keys
}

// The keys that are no flags.
const (
	kindKey  = "kind"
	inputKey = "input"
)

// readJobFile reads a job file. The errors name the file and the line.
func readJobFile(path string) (*jobFile, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	f := &jobFile{path: path}
	var values map[string]any
	if err := toml.Unmarshal(text, &values); err != nil {
		if e, ok := errors.AsType[*toml.DecodeError](err); ok {
			line, _ := e.Position()
			return nil, f.errorAt(line, "%s", strings.TrimPrefix(e.Error(), "toml: "))
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if err := f.readLines(text); err != nil {
		return nil, err
	}
	if len(f.jobs) == 0 {
		return nil, fmt.Errorf("%s has no job: begin each job with [[job]]", path)
	}
	f.defaults.values, _ = values["defaults"].(map[string]any)
	for i, job := range values["job"].([]any) { // readLines allows no other type
		f.jobs[i].values = job.(map[string]any)
	}
	return f, nil
}

func (f *jobFile) errorAt(line int, format string, args ...any) error {
	return fmt.Errorf("%s:%d: %w", f.path, line, fmt.Errorf(format, args...))
}

// readLines finds the lines of the tables and of their keys, and refuses other tables.
func (f *jobFile) readLines(text []byte) error {
	var p unstable.Parser
	p.Reset(text)
	var current *table
	for p.NextExpression() {
		node := p.Expression()
		var key []string
		line := 0
		for parts := node.Key(); parts.Next(); {
			if line == 0 {
				line = p.Shape(parts.Node().Raw).Start.Line
			}
			key = append(key, string(parts.Node().Data))
		}
		name := strings.Join(key, ".")
		switch {
		case node.Kind == unstable.Table && name == "defaults":
			f.defaults = table{line: line, lines: make(map[string]int)}
			current = &f.defaults
		case node.Kind == unstable.ArrayTable && name == "job":
			f.jobs = append(f.jobs, table{line: line, lines: make(map[string]int)})
			current = &f.jobs[len(f.jobs)-1]
		case node.Kind != unstable.KeyValue:
			return f.errorAt(line, "there is no table %s: write [defaults], or [[job]] for each job", name)
		case current == nil:
			return f.errorAt(line, "%s stands above the tables: write [defaults] or [[job]] before the key", name)
		case len(key) > 1:
			return f.errorAt(line, "unknown key %s", name)
		default:
			current.lines[name] = line
		}
	}
	return p.Error()
}

// merged is a job with the defaults, and the line of each key.
func (f *jobFile) merged(job table) table {
	all := table{line: job.line, values: maps.Clone(f.defaults.values), lines: maps.Clone(f.defaults.lines)}
	if all.values == nil {
		all.values, all.lines = make(map[string]any), make(map[string]int)
	}
	maps.Copy(all.values, job.values)
	maps.Copy(all.lines, job.lines)
	return all
}

// inOrder are the keys in the order of their lines.
func (t table) inOrder() []string {
	return slices.SortedFunc(maps.Keys(t.values), func(a, b string) int { return t.lines[a] - t.lines[b] })
}

// kind is the kind of a job with the defaults.
func (f *jobFile) kind(job table) (client.Kind, error) {
	switch kind := job.values[kindKey]; kind {
	case nil:
		return "", f.errorAt(job.line, "the job has no kind: write kind = \"website\" or kind = \"product\"")
	case string(client.Website), string(client.Product):
		return client.Kind(kind.(string)), nil
	default:
		return "", f.errorAt(job.lines[kindKey], "kind: %v must be \"website\" or \"product\"", quotedValue(kind))
	}
}

// inputs are the operands of a job with the defaults.
func (f *jobFile) inputs(job table) ([]string, error) {
	value, ok := job.values[inputKey]
	if !ok {
		return nil, f.errorAt(job.line, "the job has no input: write input = [\"list.csv\"]")
	}
	texts, ok := texts(value)
	if !ok || len(texts) == 0 {
		return nil, f.errorAt(job.lines[inputKey], "input: %v must be a text in quotes, or a list of such texts", quotedValue(value))
	}
	return texts, nil
}

// set sets the flags that a job with the defaults names. Keys of the defaults that are flags of the other kind
// alone are left out. The error joins an error for each key.
func (f *jobFile) set(job table, flags, ofOther *pflag.FlagSet) error {
	var errs []error
	for _, key := range job.inOrder() {
		onlyOther := flags.Lookup(key) == nil && ofOther.Lookup(key) != nil
		if key == kindKey || key == inputKey || onlyOther && job.lines[key] == f.defaults.lines[key] {
			continue
		}
		if err := setFlag(flags, key, job.values[key]); err != nil {
			errs = append(errs, f.errorAt(job.lines[key], "%w", err))
		}
	}
	return errors.Join(errs...)
}

func setFlag(flags *pflag.FlagSet, key string, value any) error {
	if advice := secretAdvice(key, value); advice != "" {
		return fmt.Errorf("%s: a job file holds no secrets: %s", key, advice)
	}
	flag := flags.Lookup(key)
	if flag == nil {
		if other := strings.ReplaceAll(key, "_", "-"); flags.Lookup(other) != nil {
			return fmt.Errorf("unknown key %s: write %s", key, other)
		}
		return fmt.Errorf("unknown key %s: the keys are kind, input and the names of flags", key)
	}
	values, err := flagTexts(flag.Value.Type(), value)
	if err != nil {
		return fmt.Errorf("%s: %v %w", key, quotedValue(value), err)
	}
	for _, text := range values {
		if err := flags.Set(key, text); err != nil {
			return err
		}
	}
	return nil
}

// flagTexts gives a value as on the command line. A list stands for a flag that is given several times.
func flagTexts(flagType string, value any) ([]string, error) {
	switch flagType {
	case "bool":
		if b, ok := value.(bool); ok {
			return []string{strconv.FormatBool(b)}, nil
		}
		return nil, errors.New("must be true or false")
	case "int", "int64":
		if n, ok := value.(int64); ok {
			return []string{strconv.FormatInt(n, 10)}, nil
		}
		return nil, errors.New("must be a whole number, without quotes")
	case "stringArray":
		if list, ok := texts(value); ok {
			return list, nil
		}
		return nil, errors.New("must be a text in quotes, or a list of such texts")
	}
	if text, ok := value.(string); ok {
		return []string{text}, nil
	}
	return nil, errors.New("must be a text in quotes")
}

// texts are the texts of a value that is a text or a list of texts.
func texts(value any) (list []string, ok bool) {
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

// quotedValue is a value for an error: a text is in quotes.
func quotedValue(value any) string {
	if text, ok := value.(string); ok {
		return strconv.Quote(text)
	}
	return fmt.Sprint(value)
}

// secretAdvice says where the secret of a key belongs; "" if the key has none.
func secretAdvice(key string, value any) string {
	name := strings.ToLower(strings.ReplaceAll(key, "_", "-"))
	secretIn := func(text string) bool {
		return slices.ContainsFunc([]string{"key", "token", "secret", "password", "authorization", "cookie"}, func(word string) bool {
			return strings.Contains(text, word)
		})
	}
	switch {
	case name == "notify":
		return "set BULKCAT_NOTIFY, or name a file with notify-url-file"
	case name == "notify-secret":
		return "set " + notifySecret
	case name == "header":
		headers, _ := texts(value)
		for _, header := range headers {
			header, _, _ = strings.Cut(header, ":")
			if secretIn(strings.ToLower(header)) {
				return "name a file with header-file"
			}
		}
	case secretIn(name) && !strings.HasSuffix(name, "-file"):
		return "set BULKCAT_API_KEY, or name a file with api-key-file"
	}
	return ""
}
