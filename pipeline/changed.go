package pipeline

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"path/filepath"

	"github.com/bulkcat/bulkcat/pipeline/record"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// warnChanged warns of inputs whose beginning has changed since the last run. The rows follow the
// present input; answers are stored by input, so none of them is wrong.
func (s *Session) warnChanged(account, last *record.Account) {
	account.Changed = changedInputs(s.options.Output.Path, last.Inputs)
	for _, name := range account.Changed {
		s.options.Log.Warn("the input has changed before its end since the last run: the output follows the present input", "file", name)
	}
}

// changedInputs names the files whose beginning is not what an earlier run has read. A file that only
// grew at its end has not changed. A file that cannot be read counts as unchanged: to open it gives
// the error. So does an object, which is not read twice.
func changedInputs(output string, inputs []record.Input) []string {
	var changed []string
	for _, in := range inputs {
		if in.SHA256 == "" || in.Name == "-" || storage.IsURL(in.Name) {
			continue
		}
		path := in.Name
		if in.Path != "" && !filepath.IsAbs(in.Path) {
			path = filepath.Join(filepath.Dir(storage.Local(output)), filepath.FromSlash(in.Path))
		}
		if sum, ok := digestOfStart(path, in.Bytes); ok && sum != in.SHA256 {
			changed = append(changed, in.Name)
		}
	}
	return changed
}

// digestOfStart digests the first n bytes of a regular file, or all of a shorter one.
func digestOfStart(path string, n int64) (sum string, ok bool) {
	f, err := regular.Open(path)
	if err != nil {
		return "", false
	}
	defer f.Close() // only read from
	hash := sha256.New()
	if _, err := io.Copy(hash, io.LimitReader(f, n)); err != nil {
		return "", false
	}
	return hex.EncodeToString(hash.Sum(nil)), true
}
