package lineage

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bulkcat/bulkcat/pipeline/notify"
	"github.com/bulkcat/bulkcat/pipeline/record"
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

// Emitter emits the events of one run. No event fails or stops the run: the first failure is a warning. It is safe for
// concurrent use.
type Emitter struct {
	options  Options
	id       string // of a run that has no account
	parent   map[string]any
	notifier *notify.Notifier // nil for a file
	started  atomic.Bool      // the event Start is emitted
	warned   sync.Once
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
	o.Post.URL, o.Post.Path, o.Post.Warn = o.Place, endpoint, e.warn
	var err error
	e.notifier, err = notify.New(o.Post)
	return e, err
}

// IsFile reports whether a place of events is a file.
func IsFile(place string) bool { return place != "" && !strings.Contains(place, "://") }

// RunID returns the id of the run of an account: it is the same for all starts until the run is complete, so that the
// events of a run that is started again are those of one run. It is a UUID of version 8.
func RunID(account *record.Account) string {
	sum := sha256.Sum256([]byte(account.RunID() + " " + account.Began().UTC().Format(time.RFC3339Nano)))
	id := [16]byte(sum[:16])
	id[6] = id[6]&0x0f | 0x80
	return text(id)
}

// newID returns a UUID of version 7, as the specification recommends.
func newID() string {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	milliseconds := time.Now().UnixMilli()
	for i := range 6 {
		id[i] = byte(milliseconds >> (8 * (5 - i)))
	}
	id[6] = id[6]&0x0f | 0x70
	return text(id)
}

// text is a UUID as text, with the variant of RFC 9562.
func text(id [16]byte) string {
	id[8] = id[8]&0x3f | 0x80
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
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("%s is a folder: name a file", path)
	case info.Mode()&os.ModeNamedPipe != 0 && !isStream(path):
		return fmt.Errorf("%s is a pipe, and the run would wait for its reader: name a file", path)
	case !info.Mode().IsRegular():
		return nil // such as /dev/stdout
	}
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close() // only read from
	line, err := bufio.NewReader(io.LimitReader(file, 1<<20)).ReadBytes('\n')
	if err != nil && err != io.EOF {
		return err
	}
	if len(line) > 0 && !bytes.Contains(line, []byte(mark)) {
		return fmt.Errorf("%s has something else than events of OpenLineage: choose another name", path)
	}
	return nil
}

// isStream reports whether a path is that of an open file of this process, which has a reader.
func isStream(path string) bool {
	return strings.HasPrefix(path, "/dev/std") || strings.HasPrefix(path, "/dev/fd/")
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
		Run:    run{ID: cmp.Or(f.RunID, e.id), Facets: runFacets},
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

// Emit emits an event, after one of the start if there was none: a run may end before it asks. It does not wait for the
// delivery to a URL.
func (e *Emitter) Emit(state State, f Facts) {
	if e.started.CompareAndSwap(false, true) && state != Start {
		e.emit(Start, Facts{RunID: f.RunID, Kind: f.Kind, Inputs: f.Inputs, Output: f.Output})
	}
	e.emit(state, f)
}

func (e *Emitter) emit(state State, f Facts) {
	body, err := json.Marshal(e.event(state, f))
	if err == nil && e.notifier != nil {
		e.notifier.Send(string(state), rand.Text(), body)
		return
	}
	if err == nil {
		err = appendLine(e.options.Place, body)
	}
	if err != nil {
		e.warn(string(state), err)
	}
}

// warn tells of the first failure: a catalogue that is out would fill the log of a long run.
func (e *Emitter) warn(event string, err error) {
	e.warned.Do(func() {
		e.options.Log.Warn("an event of OpenLineage was not delivered; further failures are not told", "event", event, "error", err)
	})
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
