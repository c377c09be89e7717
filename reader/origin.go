package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// origin is the state of a regular file when reading begins.
type origin struct {
	file     regularFile
	start    int64 // offset at which reading begins: another process may have read a part of standard input
	size     int64 // bytes
	modified time.Time
}

// regularFile has the methods of os.File that detect changes of a file.
type regularFile interface {
	io.ReaderAt
	io.Seeker
	Stat() (fs.FileInfo, error)
}

// originOf returns the origin of a regular file; nil for other bodies.
func originOf(body any) *origin {
	f, ok := body.(regularFile)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return nil
	}
	start, err := f.Seek(0, io.SeekCurrent)
	if err != nil {
		return nil
	}
	return &origin{f, start, info.Size(), info.ModTime()}
}

// compare compares the file with the bytes that were read: their number and their checksum in hex. It returns the number of
// bytes that were appended since, or in changed why the file does not start with these bytes. A new modification time alone is
// not a change.
func (o *origin) compare(read int64, checksum string) (appended int64, changed string, err error) {
	info, err := o.file.Stat()
	if err != nil {
		return 0, "", err
	}
	end := o.start + read
	switch {
	case end < o.size, info.Size() < end:
		return 0, fmt.Sprintf("had %d bytes and was cut, to %d at last", o.size, info.Size()), nil
	case info.Size() == end && info.ModTime().Equal(o.modified):
		return 0, "", nil
	}
	hash := sha256.New()
	if _, err := io.Copy(hash, io.NewSectionReader(o.file, o.start, read)); err != nil {
		return 0, "", err
	}
	if hex.EncodeToString(hash.Sum(nil)) != checksum {
		return 0, "was written over", nil
	}
	return info.Size() - end, "", nil
}

// checkOrigin returns a *ChangedError if the current file has changed while it was read. Appended whole lines are only logged.
func (r *Reader) checkOrigin() error {
	if r.stream.origin == nil {
		return nil
	}
	info := &r.current.info
	appended, changed, err := r.stream.origin.compare(info.Bytes, info.SHA256)
	switch {
	case err != nil:
		return &ReadError{info.Name, r.parser.at(), err}
	case changed != "":
		return &ChangedError{info.Name, changed}
	case r.stream.seekable != nil && info.Bytes+appended > r.stream.origin.size,
		appended > 0 && r.stream.lines == nil:
		return &ChangedError{info.Name, "was appended to"}
	case appended > 0 && !r.stream.lines.ended():
		return &ChangedError{info.Name, "had a last line without a line end, and was appended to"}
	case appended > 0:
		r.options.Log.Warn("the input has grown while it was read: the appended records are left to the next run",
			"file", displayName(info.Name), "read_bytes", info.Bytes, "appended_bytes", appended)
	}
	return nil
}
