package pipeline

import (
	"bytes"
	"io"

	"github.com/bulkcat/bulkcat/writer/regular"
)

// mostRequests is a number of requests that the run does not exceed: the number of lines of the input,
// times the classifications. To count lines takes a hundredth of the time of reading the records and
// looking them up. The answer is false if a file is compressed or cannot be read.
func (o *SessionOptions) mostRequests() (most int64, ok bool) {
	for _, file := range o.Input.Paths {
		lines, ok := countLines(file)
		if !ok {
			return 0, false
		}
		most += lines
	}
	if o.Limit > 0 {
		most = min(most, o.Limit)
	}
	return most * int64(len(o.Classifications)), true
}

func countLines(path string) (lines int64, ok bool) {
	file, err := regular.Open(path)
	if err != nil {
		return 0, false // a pattern, perhaps, or a pipe
	}
	defer file.Close() // only read from
	lines = 1          // the last may have no end
	buf := make([]byte, 256<<10)
	for first := true; ; first = false {
		n, err := file.Read(buf)
		if first && isCompressed(buf[:n]) {
			return 0, false
		}
		lines += int64(bytes.Count(buf[:n], []byte{'\n'}) + bytes.Count(buf[:n], []byte{'\r'}))
		if err != nil {
			return lines, err == io.EOF
		}
	}
}

// isCompressed reports whether a file begins as gzip or zstd does.
func isCompressed(head []byte) bool {
	return bytes.HasPrefix(head, []byte{0x1f, 0x8b}) || bytes.HasPrefix(head, []byte{0x28, 0xb5, 0x2f, 0xfd})
}
