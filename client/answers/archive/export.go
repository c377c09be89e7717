package archive

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/bulkcat/bulkcat/client/answers"
)

// Export writes the answers of all sources, in the order of the log, and returns how many.
// Damaged answers are left out and counted (answers.Store.Damaged). The error is an
// *answers.DamageError if some could not be read; all others are then written nevertheless.
func Export(s *answers.Store, w io.Writer) (int64, error) {
	var written int64
	out := bufio.NewWriterSize(w, 1<<16)
	e := json.NewEncoder(out)
	e.SetEscapeHTML(false)
	err := s.Scan(func(r answers.Stored) error {
		l, err := newLine(r)
		if err != nil {
			return err
		}
		if err := e.Encode(l); err != nil {
			return fmt.Errorf("export: %w", err)
		}
		written++
		return nil
	})
	return written, errors.Join(err, out.Flush())
}
