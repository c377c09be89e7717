package main

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/pipeline"
)

// changedInputs names the files that do not begin with what an earlier run has read of
// them. Files that only grew at their end are as they were. What cannot be read counts
// as unchanged: the run itself will say so.
func changedInputs(output string, inputs []pipeline.Input) []string {
	var changed []string
	for _, in := range inputs {
		if in.SHA256 == "" || in.Name == "-" {
			continue
		}
		path := in.Name
		if in.Path != "" && !filepath.IsAbs(in.Path) {
			path = filepath.Join(filepath.Dir(filepath.Clean(output)), filepath.FromSlash(in.Path))
		}
		if sum, ok := digestOfStart(path, in.Bytes); ok && sum != in.SHA256 {
			changed = append(changed, in.Name)
		}
	}
	return changed
}

// digestOfStart digests the first n bytes of a regular file, or all of a shorter one.
func digestOfStart(path string, n int64) (sum string, ok bool) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return "", false
	}
	f, err := os.Open(path)
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
