package stdin

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"sync"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/writer/disk"
)

// Spool copies a pipe to a file. A run reads the file, and can be resumed once the file holds the whole pipe. A goroutine reads
// the pipe without waiting for the run. Its other methods may be called while Read waits.
type Spool struct {
	path string   // name of the file after Keep
	in   *os.File // the file, for writing
	out  *os.File // the file, for reading

	mu          sync.Mutex
	changed     *sync.Cond
	name        string // current name of the file
	written     int64  // bytes
	read        int64  // bytes
	err         error  // last error; io.EOF after the end of the pipe
	interrupted bool
	closed      bool
}

// NewSpool starts to copy a pipe into a new hidden file beside path. Keep renames the file to path. Until then, an earlier
// spool at path stays. NewSpool removes the hidden file of a killed process, so only one process may spool to path at a time.
func NewSpool(pipe io.Reader, path string) (*Spool, error) {
	name := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".new")
	in, out, err := create(name)
	if err != nil {
		return nil, fmt.Errorf("keep standard input in %s: %w", name, disk.Cause(err))
	}
	s := &Spool{path: path, name: name, in: in, out: out}
	s.changed = sync.NewCond(&s.mu)
	go s.fill(pipe) // ends with the pipe or the process
	return s, nil
}

// create replaces a file, and opens it for writing and for reading. It opens the file in a Root, because Windows renames no file
// that os.Open has opened.
func create(path string) (in, out *os.File, err error) {
	root, err := os.OpenRoot(filepath.Dir(path))
	if err != nil {
		return nil, nil, err
	}
	defer root.Close()
	name := filepath.Base(path)
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, err
	}
	if in, err = root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666); err != nil {
		return nil, nil, err
	}
	if out, err = root.Open(name); err != nil {
		return nil, nil, errors.Join(err, in.Close(), root.Remove(name))
	}
	return in, out, nil
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

// Read reads the file, and waits for more data until the pipe ends. After the last byte it returns the pipe's error, usually
// io.EOF. After Interrupt the error is [reader.ErrInterrupted], and after Close os.ErrClosed.
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
		return 0, reader.ErrInterrupted
	case left == 0:
		return 0, err
	}
	n, err := s.out.Read(p[:min(int64(len(p)), left)])
	s.read += int64(n)
	if err == io.EOF {
		err = io.ErrUnexpectedEOF // another process has truncated the file
	}
	return n, err
}

// Interrupt makes present and later Reads that wait for the pipe return [reader.ErrInterrupted].
func (s *Spool) Interrupt() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.interrupted = true
	s.changed.Broadcast()
}

// Keep renames the file to its path. It replaces an earlier file.
func (s *Spool) Keep() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := os.Rename(s.name, s.path); err != nil {
		return fmt.Errorf("keep standard input: %w", err)
	}
	s.name = s.path
	return nil
}

// Path returns the present path of the file.
func (s *Spool) Path() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.name
}

// Whole reports whether the file holds the whole pipe.
func (s *Spool) Whole() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err == io.EOF
}

// Close ends reading, and keeps the file for another run.
func (s *Spool) Close() error {
	s.mu.Lock()
	s.closed = true
	s.changed.Broadcast()
	s.mu.Unlock()
	return errors.Join(s.in.Close(), s.out.Close())
}

// Remove removes the file.
func (s *Spool) Remove() error { return os.Remove(s.Path()) }

// Pump reads a pipe one buffer ahead in a goroutine: a Read that waits for the pipe can be interrupted.
type Pump struct {
	*io.PipeReader
	in *io.PipeWriter
}

// NewPump starts a Pump. Its goroutine ends with the pipe or the process.
func NewPump(pipe io.Reader) *Pump {
	out, in := io.Pipe()
	go func() {
		_, err := io.Copy(in, pipe)
		in.CloseWithError(err) // io.EOF for nil
	}()
	return &Pump{out, in}
}

// Interrupt makes a waiting Read and all later ones return [reader.ErrInterrupted].
func (p *Pump) Interrupt() { p.in.CloseWithError(reader.ErrInterrupted) }
