package reader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

// Spool keeps on disk what comes through a pipe, so that a run over it can be started
// again. The pipe is emptied into the file as fast as it gives, however slow the run is,
// and the run reads from the file: once the pipe has ended nothing of it can be lost.
type Spool struct {
	path string   // where it is to be kept
	name string   // where it is
	in   *os.File // the file, for writing
	out  *os.File // the file, for reading

	mu          sync.Mutex
	changed     *sync.Cond
	written     int64
	read        int64
	err         error // io.EOF once the pipe has ended
	interrupted bool
	closed      bool
}

// ErrInterrupted is what a reader of a pipe gets that was waiting when it was interrupted.
var ErrInterrupted = errors.New("reading was interrupted")

// NewSpool starts to spool a pipe into a new hidden file beside path; Keep gives it that name.
// Until then the spool of another run that is there is not touched. Only one process may spool
// to path at a time: what a killed one has left under the hidden name is removed.
func NewSpool(pipe io.Reader, path string) (*Spool, error) {
	dir, base := filepath.Split(path)
	name := filepath.Join(dir, "."+base+".new")
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("keep standard input: %w", err)
	}
	in, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return nil, fmt.Errorf("keep standard input: %w", err)
	}
	out, err := os.Open(in.Name())
	if err != nil {
		return nil, errors.Join(fmt.Errorf("keep standard input: %w", err), in.Close(), os.Remove(in.Name()))
	}
	s := &Spool{path: path, name: in.Name(), in: in, out: out}
	s.changed = sync.NewCond(&s.mu)
	go s.fill(pipe) // ends with the pipe, or with the process where the pipe never does
	return s, nil
}

func (s *Spool) fill(pipe io.Reader) {
	buf := make([]byte, 64<<10)
	for {
		n, err := pipe.Read(buf)
		if n > 0 {
			if _, writeErr := s.in.Write(buf[:n]); writeErr != nil {
				err = fmt.Errorf("keep standard input: %w", writeErr)
				n = 0
			}
		}
		s.mu.Lock()
		s.written += int64(n)
		if err != nil && s.err == nil {
			s.err = err
		}
		ended := s.err != nil || s.closed
		s.changed.Broadcast()
		s.mu.Unlock()
		if ended {
			return
		}
	}
}

// Read gives what has been spooled, and waits for more until the pipe ends.
func (s *Spool) Read(p []byte) (int, error) {
	s.mu.Lock()
	for s.read == s.written && s.err == nil && !s.closed && !s.interrupted {
		s.changed.Wait()
	}
	left, err, closed := s.written-s.read, s.err, s.closed
	s.mu.Unlock()
	switch {
	case closed:
		return 0, os.ErrClosed
	case left == 0 && err == nil:
		return 0, ErrInterrupted
	case left == 0:
		return 0, err
	}
	n, err := s.out.Read(p[:min(int64(len(p)), left)])
	s.read += int64(n)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // somebody has cut the file
	}
	return n, err
}

// Interrupt ends a Read that waits for the pipe, and those that would have to wait, with
// ErrInterrupted.
func (s *Spool) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupted = true
	s.changed.Broadcast()
}

// Keep gives the file its name, in place of what is there.
func (s *Spool) Keep() error {
	if err := os.Rename(s.name, s.path); err != nil {
		return fmt.Errorf("keep standard input: %w", err)
	}
	s.name = s.path
	return nil
}

// Path is the file.
func (s *Spool) Path() string { return s.name }

// Whole says whether the pipe has ended, so that the file holds all of it.
func (s *Spool) Whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return errors.Is(s.err, io.EOF)
}

// Close ends reading. The file stays, for the run to be started again with, until
// Remove.
func (s *Spool) Close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	return errors.Join(s.in.Close(), s.out.Close())
}

// Remove removes the file of a run that is complete, or was not to begin.
func (s *Spool) Remove() error { return os.Remove(s.name) }

// Pump reads a pipe ahead by one piece, so that who waits for it can be interrupted.
type Pump struct {
	*io.PipeReader
	in *io.PipeWriter
}

// NewPump starts to read a pipe.
func NewPump(pipe io.Reader) *Pump {
	out, in := io.Pipe()
	go func() { // ends with the pipe, or with the process where the pipe never does
		_, err := io.Copy(in, pipe)
		in.CloseWithError(err) // io.EOF for nil
	}()
	return &Pump{out, in}
}

// Interrupt ends a Read that waits, and all to come, with ErrInterrupted.
func (p *Pump) Interrupt() { p.in.CloseWithError(ErrInterrupted) }
