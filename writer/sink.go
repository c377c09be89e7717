package writer

import (
	"context"
	"errors"
	"io"
	"os"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// Sink writes rows to an output. It is not safe for concurrent use. Its errors are sticky: see the package.
type Sink interface {
	// Write writes rows. They must be in record order. The caller may reuse rows and the slices in them when Write returns. A
	// stream is flushed. The error is a *disk.Error, or ErrClosed.
	Write(rows []Row) error

	// Close publishes the output. After an error it discards the draft and returns the error, which wraps a *disk.Error or is
	// ErrClosed.
	Close() (Published, error)

	// Abort discards the draft. After Close it does nothing, so it can be deferred.
	Abort() error
}

// Options describe an output. Path is required.
type Options struct {
	Storage  disk.Storage      // default disk.Local
	Path     string            // a file, or a folder if Folder is set, or "-" for standard output
	Folder   bool              // write a folder of parts
	Format   Format            // default: the format of the extension of Path, or Parquet for a folder without extension
	Schema   Schema            // the columns
	PartRows int64             // rows from which a part is full; default DefaultPartRows
	Ends     []int64           // last records of the first parts, whatever their rows; later parts end when they are full
	Kept     []File            // published parts of an interrupted run, which the sink continues
	OnPart   func(File) error  // called after each part is published; its error fails the sink; may be nil
	OnChange func() error      // called once, before the output changes; its error fails the sink; may be nil
	Check    CheckFunc         // called before the output is published; nil for none
	Metadata map[string]string // key-value metadata of Parquet files; other formats have none
	Stdout   io.Writer         // the output for "-"; default os.Stdout
}

// CheckFunc checks a complete output before it is published: the draft of a file, or a folder with all parts but without
// _SUCCESS. Its error discards the file, and fails the sink. Streams and objects are not checked.
type CheckFunc func(path string) error

// DefaultPartRows gives parts of about ten megabytes of Parquet: large enough for efficient reading, and small enough for many
// workers.
const DefaultPartRows = 1_000_000

// Published describes the files that a sink has published.
type Published struct {
	Files []File // in the order of their rows; empty for a stream
	Rows  int64  // in all files, or in the stream
}

// File is one published file.
type File struct {
	Path        string `json:"path"`
	Bytes       int64  `json:"bytes"`
	SHA256      string `json:"sha256"` // in hex
	Rows        int64  `json:"rows"`
	FirstRecord int64  `json:"first_record"` // 0 if there are no rows
	LastRecord  int64  `json:"last_record"`  // 0 if there are no rows
}

// Open returns the sink of an output. ctx is for the calls of Storage until the sink is closed. If another process may write the
// same output, the caller must hold the output's disk.Lock until the sink is closed. The error is a *FormatError, a *ShapeError
// or a *disk.Error.
func Open(ctx context.Context, o Options) (Sink, error) {
	if err := o.applyDefaults(); err != nil {
		return nil, err
	}
	var inner Sink
	var err error
	switch {
	case o.Path == "-":
		inner, err = newStream(o)
	case o.Folder:
		inner, err = newFolder(ctx, o)
	default:
		inner, err = newSingle(ctx, o)
	}
	if err != nil {
		return nil, err
	}
	return &guard{sink: inner}, nil
}

func (o *Options) applyDefaults() (err error) {
	switch {
	case o.Path == "":
		return disk.Failed("opening", "the output", errors.New(`it has no name: give a path, or "-" for standard output`))
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
	if o.Storage == nil {
		o.Storage = disk.Local{}
	}
	if err != nil {
		return err
	}
	return o.Format.CheckShape(o.Schema.Shape)
}

// guard implements the rules of all sinks: errors are sticky, nothing is published after an error, and a closed sink stays
// closed.
type guard struct {
	sink   Sink
	err    error // sticky error
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
