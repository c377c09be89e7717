package writer

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Sink takes rows. It is not safe for concurrent use.
type Sink interface {
	// Write adds rows. The rows of a record follow one another, over several calls if need be. The sink
	// keeps none of the slices; texts it may keep. Readers of a stream see them when Write returns.
	Write(rows []Row) error

	// Close publishes the output whole, or removes what was not published and returns an error.
	Close() (Published, error)

	// Abort removes what is not published yet. After Close it does nothing, so that it can be deferred.
	Abort() error
}

// Options says where rows go, and how.
type Options struct {
	Path     string            // a file, a folder if Folder is set, or "-" for standard output
	Folder   bool              // write a folder of parts
	Format   Format            // "" means by the extension of Path; a folder without one holds Parquet
	Schema   Schema            // the columns
	PartRows int64             // rows from which on a part is full; 0 means DefaultPartRows
	Kept     []File            // parts of an earlier run, whole and in their place: writing goes on after them
	OnPart   func(File) error  // called with each part once it is published; may be nil
	Metadata map[string]string // key-value metadata of Parquet files; the other formats have no place for it
	Stdout   io.Writer         // what "-" stands for; nil means os.Stdout
}

// DefaultPartRows makes parts of some ten megabytes of Parquet: large enough that engines do not spend
// their time on opening files, small enough that they spread over many workers.
const DefaultPartRows = 1_000_000

// Published says what a sink has published.
type Published struct {
	Files []File // in the order of their rows; none for a stream
	Rows  int64
}

// File is one published file.
type File struct {
	Path        string `json:"path"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // in hexadecimal
	Rows        int64  `json:"rows"`
	FirstRecord int64  `json:"first_record"` // 0 if there are no rows
	LastRecord  int64  `json:"last_record"`
}

// Open makes the sink that o describes. Where another process may write the same output, its Lock has to
// be held from here until the sink is closed. Open fails at once, before any work is lost, if the format cannot
// be told (*FormatError) or the output cannot be written where it should be (*Error).
func Open(o Options) (Sink, error) { return open(osFS{}, o) }

func open(fsys fileSystem, o Options) (Sink, error) {
	if err := o.applyDefaults(); err != nil {
		return nil, err
	}
	inner, err := newSink(fsys, o)
	if err != nil {
		return nil, err
	}
	return &guard{sink: inner}, nil
}

func newSink(fsys fileSystem, o Options) (Sink, error) {
	switch {
	case o.Path == "-":
		return newStream(o)
	case o.Folder:
		return newFolder(fsys, o)
	default:
		return newSingle(fsys, o)
	}
}

func (o *Options) applyDefaults() (err error) {
	switch {
	case o.Path == "":
		return failed("opening", "the output", errors.New(`it has no name: give a path, or "-" for standard output`))
	case o.Format != "":
		o.Format, err = ParseFormat(string(o.Format))
	default:
		o.Format, err = FormatOf(o.Path)
		if err != nil && o.Folder {
			o.Format, err = Parquet, nil
		}
	}
	o.Format = o.Format.compressedAs(o.Path)
	if o.PartRows <= 0 {
		o.PartRows = DefaultPartRows
	}
	if o.Stdout == nil {
		o.Stdout = os.Stdout
	}
	return err
}

// guard keeps what all sinks promise: the first failure sticks, nothing is published after one, and a
// sink that is closed stays closed.
type guard struct {
	sink   Sink
	err    error // the first failure
	closed bool
}

func (g *guard) Write(rows []Row) error {
	switch {
	case g.err != nil:
		return g.err
	case g.closed:
		return ErrClosed
	}
	g.err = g.sink.Write(rows)
	return g.err
}

func (g *guard) Close() (Published, error) {
	if g.closed && g.err == nil {
		return Published{}, ErrClosed
	}
	var published Published
	if g.err == nil {
		published, g.err = g.sink.Close()
	}
	if g.err != nil {
		return Published{}, errors.Join(g.err, g.Abort())
	}
	g.closed = true
	return published, nil
}

func (g *guard) Abort() error {
	if g.closed {
		return nil
	}
	g.closed = true
	return g.sink.Abort()
}

// single is the sink of one file.
type single struct{ *output }

func newSingle(fsys fileSystem, o Options) (Sink, error) {
	dir := filepath.Dir(o.Path)
	if err := checkFolder(fsys, o.Path, dir); err != nil {
		return nil, err
	}
	info, err := fsys.Stat(o.Path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return nil, failed("opening", o.Path, err)
	case info.IsDir():
		return nil, failed("opening", o.Path, syscall.EISDIR)
	case !info.Mode().IsRegular():
		// A rename would put a file in the place of the device or pipe.
		return nil, failed("opening", o.Path, errors.New(`it is a device or a pipe: write to "-" and redirect standard output`))
	}
	removeDrafts(fsys, dir, func(name string) bool { return name == filepath.Base(o.Path) })
	out, err := newOutput(fsys, o.Path, o)
	if err != nil {
		return nil, err
	}
	return single{out}, nil
}

func (s single) Write(rows []Row) error { return s.write(rows) }
func (s single) Abort() error           { return s.discard() }

func (s single) Close() (Published, error) {
	f, err := s.publish()
	return Published{Files: []File{f}, Rows: f.Rows}, err
}
