package lineage

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/notify"
)

// Options describe an [Emitter]. Place is required.
type Options struct {
	Place     string         // an http or https URL, or a file
	Namespace string         // of the job; default "default"
	Parent    string         // NAMESPACE/JOB/RUNID of the task that has started the run, as in OPENLINEAGE_PARENT_ID; "" for none
	Version   string         // of the program
	Post      notify.Options // how events are posted to a URL; its URL is Place
	Log       *slog.Logger   // warnings
}

// defaultNamespace is that of OpenLineage's own clients.
const defaultNamespace = "default"

// endpoint is the path of a URL that has none, as in OpenLineage's own clients.
const endpoint = "/api/v1/lineage"

// interval is the time between two events of a run that goes on.
const interval = time.Minute

// Emitter emits the events of one run. No event fails or stops the run: a failure is a warning.
type Emitter struct {
	options  Options
	id       string // of the run
	parent   map[string]any
	notifier *notify.Notifier // nil for a file
}

// New makes an emitter. The errors say what is wrong with the place or the parent, and never have a URL, which may have secrets.
func New(o Options) (*Emitter, error) {
	if o.Namespace == "" {
		o.Namespace = defaultNamespace
	}
	e := &Emitter{options: o, id: newID()}
	if o.Parent != "" {
		var err error
		if e.parent, err = parseParent(o.Parent); err != nil {
			return nil, err
		}
	}
	if !strings.Contains(o.Place, "://") {
		return e, checkFile(o.Place)
	}
	o.Post.URL, o.Post.Path = o.Place, endpoint
	var err error
	e.notifier, err = notify.New(o.Post)
	return e, err
}

// IsFile reports whether a place of events is a file.
func IsFile(place string) bool { return place != "" && !strings.Contains(place, "://") }

// newID returns a UUID of version 7, as the specification recommends.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	milliseconds := time.Now().UnixMilli()
	for i := range 6 {
		id[i] = byte(milliseconds >> (8 * (5 - i)))
	}
	id[6], id[8] = id[6]&0x0f|0x70, id[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// parseParent reads a parent. The namespace and the name may have slashes, of which the last two separate.
func parseParent(text string) (map[string]any, error) {
	var parts []string
	for range 2 {
		i := strings.LastIndex(text, "/")
		if i < 0 {
			return nil, errors.New("OPENLINEAGE_PARENT_ID must be NAMESPACE/JOB/RUNID")
		}
		text, parts = text[:i], append(parts, text[i+1:])
	}
	return map[string]any{
		"run": map[string]any{"runId": parts[0]}, "job": map[string]any{"namespace": text, "name": parts[1]},
	}, nil
}

// mark is in every event, and so shows that a file has events.
const mark = `"schemaURL":"` + specification

// checkFile refuses a file that has something else than events, so that nothing is appended to it.
func checkFile(path string) error {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if !info.Mode().IsRegular() {
		return nil // such as /dev/stdout
	}
	line, err := bufio.NewReader(io.LimitReader(file, 1<<20)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if len(line) > 0 && !bytes.Contains(line, []byte(mark)) {
		return fmt.Errorf("%s has something else than events of OpenLineage: choose another name", path)
	}
	return nil
}

// event makes an event.
func (e *Emitter) event(state State, f Facts) event {
	runFacets := facets{}
	runFacets.add("processing_engine", "1-1-1/ProcessingEngineRunFacet", map[string]any{"name": "bulkcat", "version": e.options.Version})
	c := f.Counts
	runFacets["bulkcat"] = map[string]any{ // of our own, so its schema is the plain one of facets
		"_producer": program, "_schemaURL": specification + "2-0-2/OpenLineage.json#/$defs/RunFacet",
		"records": c.Settled(), "ok": c.OK, "empty": c.Empty, "unanswered": c.Unanswered(),
		"requests": c.Requests, "retries": c.Retries, "from_store": c.FromStore,
	}
	if f.Error != "" {
		runFacets.add("errorMessage", "1-0-1/ErrorMessageRunFacet", map[string]any{"message": f.Error, "programmingLanguage": "GO"})
	}
	if e.parent != nil {
		parent := map[string]any{"run": e.parent["run"], "job": e.parent["job"]}
		runFacets.add("parent", "1-2-0/ParentRunFacet", parent)
	}
	jobFacets := facets{}
	jobFacets.add("jobType", "2-0-4/JobTypeJobFacet", map[string]any{"processingType": "BATCH", "integration": "BULKCAT", "jobType": "JOB"})
	return event{
		EventTime: time.Now().UTC(), EventType: state,
		Run:    run{ID: e.id, Facets: runFacets},
		Job:    job{Namespace: e.options.Namespace, Name: jobName(f), Facets: jobFacets},
		Inputs: f.inputs(), Outputs: f.outputs(state == Complete),
		Producer: program, SchemaURL: eventSchema,
	}
}

// jobName is the same for all runs of an output.
func jobName(f Facts) string {
	d, ok := datasetOf(f.Output)
	if !ok {
		return "bulkcat." + f.Kind
	}
	return "bulkcat." + f.Kind + "." + filepath.Base(d.Name)
}

// Emit emits an event. It does not wait for the delivery to a URL.
func (e *Emitter) Emit(state State, f Facts) {
	body, err := json.Marshal(e.event(state, f))
	if err != nil {
		e.options.Log.Warn("an event of OpenLineage was not made", "event", state, "error", err)
		return
	}
	if e.notifier != nil {
		e.notifier.Send(string(state), rand.Text(), body)
		return
	}
	if err := appendLine(e.options.Place, body); err != nil {
		e.options.Log.Warn("an event of OpenLineage was not written", "event", state, "error", err)
	}
}

// appendLine appends a line in one write, so that runs can share a file.
func appendLine(path string, line []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o666)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// Watch emits an event at the start and one a minute, until end is called. look is called in a goroutine.
func (e *Emitter) Watch(look func() Facts) (end func()) {
	if e == nil {
		return func() {}
	}
	e.Emit(Start, look())
	done, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				e.Emit(Running, look())
			case <-done:
				return
			}
		}
	}()
	return func() {
		close(done)
		<-gone
	}
}

// Close waits until all events are delivered, or ctx ends.
func (e *Emitter) Close(ctx context.Context) {
	if e != nil && e.notifier != nil {
		e.notifier.Close(ctx)
	}
}
