package stdin

import (
	"io"

	"github.com/bulkcat/bulkcat/reader"
)

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
