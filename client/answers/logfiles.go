package answers

import (
	"io/fs"
	"path"
)

// LogFile is a file of the log as far as the file is durable. These bytes never change.
type LogFile struct {
	Name   string // in the folder of the store, such as "00000001.log"
	Size   int64  // bytes
	Closed bool   // nothing is appended any more
}

// IsLogFile reports whether a file in the folder of a store is named like a file of the log.
func IsLogFile(name string) bool { return parseLogName(name) != 0 }

// LogFiles are the files of the log at one time. A folder with just these files is the store at that time: the
// index is made anew from the log. LogFiles may be called while batches are committed.
func (s *Store) LogFiles() []LogFile {
	s.log.mu.RLock()
	defer s.log.mu.RUnlock()
	files := make([]LogFile, len(s.log.files))
	for i, f := range s.log.files {
		files[i] = LogFile{Name: path.Base(s.log.name(f.number)), Size: f.end, Closed: i < len(s.log.files)-1}
	}
	return files
}

// ReadLog reads bytes of a file of the log from an offset on, and fewer than len(p) only at the end of the file. The
// error is fs.ErrNotExist if compaction has removed the file, or the disk's.
func (s *Store) ReadLog(name string, p []byte, offset int64) (n int, err error) {
	read, err := s.log.read(p, placeIn(parseLogName(name), offset))
	if err == nil && read == nil {
		err = &fs.PathError{Op: "read", Path: s.options.FS.PathJoin(s.options.Dir, name), Err: fs.ErrNotExist}
	}
	return len(read), err
}
