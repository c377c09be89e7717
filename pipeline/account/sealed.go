package account

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Sealed is a file with the number of its format and a checksum of itself, so that a damaged figure does not get into the next
// file. All files but the journal and the status, which change during a run, are sealed. The checksum covers the members that
// this version knows.
type Sealed interface {
	format() (known int, found *int) // the format that this version writes, and the member
	checksum() *string               // the member: SHA-256 of the other members, in hex
}

// DamagedError says that a file of a run exists, but is damaged or has a format of another version.
type DamagedError struct {
	Path string
	Err  error // errSeal, a *formatError, or that of JSON
}

func (e *DamagedError) Error() string { return e.Path + ": " + e.Err.Error() }
func (e *DamagedError) Unwrap() error { return e.Err }

// Describe describes the error as a property of the folder, such as "has a damaged manifest (unexpected EOF)".
func (e *DamagedError) Describe(file string) string {
	if other, ok := errors.AsType[*formatError](e.Err); ok {
		return fmt.Sprintf("has a %s of format %d, not %d", file, other.found, other.known)
	}
	if errors.Is(e.Err, errSeal) {
		return fmt.Sprintf("has a %s that is not as it was written", file)
	}
	return fmt.Sprintf("has a damaged %s (%v)", file, e.Err)
}

var errSeal = errors.New("the file is damaged: its checksum does not match")

// formatError says that a file has another format than this version reads.
type formatError struct{ found, known int }

func (e *formatError) Error() string {
	return fmt.Sprintf("the file is of format %d, and this version of bulkcat reads format %d", e.found, e.known)
}

// Unseal reads the text of the file at path into f. The error is a *DamagedError.
func Unseal(path string, text []byte, f Sealed) error {
	if err := unseal(text, f); err != nil {
		return &DamagedError{path, err}
	}
	return nil
}

func unseal(text []byte, f Sealed) error {
	if err := json.Unmarshal(text, f); err != nil {
		return err
	}
	if known, found := f.format(); *found != known && *found != 0 { // checked first: another format may have other members
		return &formatError{*found, known}
	}
	if *f.checksum() != sum(f) {
		return errSeal
	}
	return nil
}

// Seal returns the text of a file for path, with its checksum.
func Seal(path string, f Sealed) ([]byte, error) {
	*f.checksum() = sum(f)
	text, err := encode(f)
	if err != nil {
		return nil, fmt.Errorf("write %s: %w", path, err)
	}
	return text, nil
}

// sum returns the checksum of a file with an empty checksum.
func sum(f Sealed) string {
	found := *f.checksum()
	defer func() { *f.checksum() = found }()
	*f.checksum() = ""
	return checksumOf(f)
}

func checksumOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return "" // cannot happen: strings, numbers and times
	}
	text = bytes.ReplaceAll(text, []byte(`\ufffd`), []byte("\ufffd")) // json.Marshal of invalid UTF-8 that was read back as U+FFFD
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// encode returns indented JSON.
func encode(v any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return text.Bytes(), err
}
