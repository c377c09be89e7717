package reader

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"time"
)

// origin is a regular file as it was when its reading began.
type origin struct {
	file     regularFile
	start    int64 // where reading began: the shell may have read of standard input
	size     int64
	modified time.Time
}

// regularFile is what of an os.File tells whether the file has changed.
type regularFile interface {
	io.ReaderAt
	io.Seeker
	Stat() (fs.FileInfo, error)
}

// originOf returns nil for what is no regular file, and cannot be read again.
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

// compare holds the file against what was read of it to its end: so many bytes with
// this checksum. It returns how many bytes were appended since, or why the file does
// not begin with what was read. A new time of modification alone changes nothing.
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

// checkOrigin compares the current file, which has been read to its end, with what lies
// there now. A file to which whole lines were appended is as good as one that is read
// before: the log tells.
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
	case appended > 0 && !r.lines.ended():
		return &ChangedError{info.Name, "had a last line without an end, to which more was appended"}
	case appended > 0:
		r.options.Log.Warn("the input has grown while it was read: what was appended is left to the next run",
			"file", displayName(info.Name), "read_bytes", info.Bytes, "appended_bytes", appended)
	}
	return nil
}
