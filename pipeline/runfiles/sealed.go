package runfiles

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"syscall"

	"github.com/bulkcat/bulkcat/pipeline/account"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/writer/regular"
)

// read reads a file into f. The errors are those of storage.ReadFile and *account.DamagedError.
func read(ctx context.Context, path string, f account.Sealed) error {
	text, err := storage.ReadFile(ctx, path)
	if err != nil {
		return err
	}
	return account.Unseal(path, text, f)
}

// isAbsent reports whether the error of read says that the file, or its folder, is missing.
func isAbsent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// Write replaces the file at path by an account or a manifest. A reader sees the earlier or the new file. The error is a
// *disk.Error.
func Write(ctx context.Context, path string, f account.Sealed) error {
	text, err := account.Seal(path, f)
	if err != nil {
		return err
	}
	return storage.Publish(ctx, path, text)
}

// ReadAccount reads the account of the rows of an output from the file at AccountPath. It returns nil and no error if the file
// is missing, and an error if the file cannot be read or is damaged.
func ReadAccount(ctx context.Context, path string) (*account.Account, error) {
	last, err := ReadLast(ctx, path)
	return last.OfRows(), err
}

// ReadLast is ReadAccount for the account of the last start, which may not have written the rows.
func ReadLast(ctx context.Context, path string) (*account.Account, error) {
	a := new(account.Account)
	switch err := read(ctx, path, a); {
	case isAbsent(err):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read the account of the last run: %w", err)
	}
	return a, nil
}

// ChangedInputs returns the names of the account's inputs that no longer begin with the bytes that the run has read. output is
// the output of the run. A file that only grew at its end has not changed. A file that cannot be read counts as unchanged:
// opening the file reports the error. An object counts as unchanged, because it is not read twice.
func ChangedInputs(a *account.Account, output string) []string {
	var changed []string
	for _, in := range a.Inputs {
		if in.SHA256 == "" || in.Name == "-" || storage.IsURL(in.Name) {
			continue
		}
		if sum, ok := digestOfStart(FromOutput(output, in.Path), in.Bytes); ok && sum != in.SHA256 {
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
