package writer

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"syscall"
	"testing"

	"github.com/klauspost/compress/gzip"
)

func TestStream(t *testing.T) {
	rows := flattenAll(typicalSchema, typicalResults(50))
	for _, format := range []Format{CSV, JSONL, Parquet} {
		t.Run(string(format), func(t *testing.T) {
			var out bytes.Buffer
			sink := mustOpen(t, Options{Path: "-", Format: format, Schema: typicalSchema, Stdout: &out})
			mustWrite(t, sink, rows[:20])
			mustWrite(t, sink, rows[20:])
			published, err := sink.Close()
			if err != nil {
				t.Fatal(err)
			}
			if published.Files != nil || published.Rows != int64(len(rows)) {
				t.Errorf("published %+v", published)
			}
			if !bytes.Equal(out.Bytes(), encodeAll(t, format, typicalSchema, rows)) {
				t.Error("the stream is not what the file would be")
			}
		})
	}
}

func TestStreamShowsRowsAtOnce(t *testing.T) {
	var out bytes.Buffer
	sink := mustOpen(t, Options{Path: "-", Format: CSV, Stdout: &out})
	mustWrite(t, sink, recordRows(1, 1))
	if n := strings.Count(out.String(), "\n"); n != 3 {
		t.Errorf("after the first Write there are %d lines, want the header and two rows", n)
	}
}

func TestStreamShowsCompressedRowsAtOnce(t *testing.T) {
	var out bytes.Buffer
	sink := mustOpen(t, Options{Path: "-", Format: "csv.gz", Stdout: &out})
	mustWrite(t, sink, recordRows(1, 1))
	gz, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(gz)
	if n := bytes.Count(text, []byte("\n")); n != 3 || !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("after the first Write there are %d lines, %v", n, err)
	}
}

func TestStreamErrors(t *testing.T) {
	for _, format := range []Format{CSV, "csv.gz", "csv.zst", JSONL, Parquet} {
		t.Run(string(format), func(t *testing.T) {
			sink := mustOpen(t, Options{Path: "-", Format: format, Stdout: brokenPipe{}})
			writeErr := sink.Write(recordRows(1))
			_, err := sink.Close()
			if !IsBrokenPipe(err) || !errors.Is(err, syscall.EPIPE) || err.Error() != "writing standard output: broken pipe" {
				t.Errorf("Close returns %v", err)
			}
			if format != Parquet && !errors.Is(writeErr, syscall.EPIPE) {
				t.Errorf("Write returns %v", writeErr)
			}
		})
	}
}

// brokenPipe is a pipe without a reader.
type brokenPipe struct{}

func (brokenPipe) Write([]byte) (int, error) { return 0, syscall.EPIPE }
