package writer

import (
	"bufio"
	"cmp"
	"errors"
	"runtime"
	"syscall"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// stream is the sink of standard output.
type stream struct {
	buf  *bufio.Writer
	enc  encoder
	rows int64
}

// streamName is the name of the stream in errors.
const streamName = "standard output"

func newStream(o Options) (Sink, error) {
	s := &stream{buf: bufio.NewWriter(o.Stdout)}
	enc, err := newEncoder(s.buf, o.Format, o.Schema, o.Metadata)
	if err != nil {
		return nil, disk.Failed("opening", streamName, err)
	}
	s.enc = enc
	return s, nil
}

func (s *stream) Write(rows []Row) error {
	s.rows += int64(len(rows))
	return disk.Failed("writing", streamName, cmp.Or(s.enc.encode(rows), s.enc.flush(), s.buf.Flush()))
}

func (s *stream) Close() (Published, error) {
	return Published{Rows: s.rows}, disk.Failed("writing", streamName, cmp.Or(s.enc.close(), s.buf.Flush()))
}

// IsBrokenPipe reports whether the reader of a stream has closed the pipe.
func IsBrokenPipe(err error) bool {
	failed, writing := errors.AsType[*disk.Error](err)
	if !writing || failed.Path != streamName {
		return false
	}
	number, _ := errors.AsType[syscall.Errno](failed.Err)
	return number == syscall.EPIPE || runtime.GOOS == "windows" && (number == 109 || number == 232) // ERROR_BROKEN_PIPE, ERROR_NO_DATA
}

// Abort does nothing: written rows cannot be removed.
func (s *stream) Abort() error { return nil }
