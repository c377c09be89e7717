package runfiles

import (
	"encoding/json"
	"errors"
	"io/fs"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/writer/disk"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// WriteStatus replaces the file at path atomically: other programs read the earlier or the new status.
func WriteStatus(path string, s account.Status) error {
	text, err := s.Text()
	if err != nil {
		return err
	}
	return disk.ReplaceFile(path, text)
}

// CheckStatus returns an error if the file at path exists and is no status, or cannot be read.
func CheckStatus(path string) error {
	text, err := regular.Read(path, 1<<20)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	var s account.Status
	if err == nil && (json.Unmarshal(text, &s) != nil || s.Format == 0 || s.Updated.IsZero()) {
		err = errors.New("it is no status of bulkcat: move it elsewhere")
	}
	return err
}
