package storage

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"sync"
	"time"

	"github.com/bulkcat/bulkcat/reader"
)

const (
	// blockSize is the size of a ranged read in bytes. It is large enough that the latency of a request costs little.
	blockSize = 2 << 20
	// seekBlocks is the number of blocks that are kept of an object that is not read in order, because a Parquet file has its
	// columns in different blocks. One block of other objects is kept.
	seekBlocks = 16
	// maxCuts is the number of reads in a row that may end without a byte.
	maxCuts = 10
)

// source is a version of an object that is open for reading. It implements reader.Source. As with a file, several goroutines may
// call ReadAt.
type source struct {
	ctx     context.Context // of opening, for the reads
	bucket  Bucket
	key     string
	info    Info
	inOrder *io.SectionReader // of ReadAt, for Read

	mu     sync.Mutex
	blocks []block // the last used block is the last
	most   int     // number of blocks
}

type block struct {
	number int64
	data   []byte
}

func newSource(ctx context.Context, b Bucket, key string, info Info) *source {
	s := &source{ctx: ctx, bucket: b, key: key, info: info, most: 1}
	s.inOrder = io.NewSectionReader(s, 0, info.Size)
	return s
}

func openSource(ctx context.Context, b Bucket, key string) (*source, error) {
	info, err := b.Stat(ctx, key)
	if err == nil && info.Size == 0 {
		var body io.ReadCloser
		if body, err = b.Read(ctx, key, info, 0, 0); err == nil { // some proxies answer HEAD with a wrong length of 0
			err = body.Close()
		}
	}
	return newSource(ctx, b, key, info), err
}

func (s *source) Read(p []byte) (int, error) { return s.inOrder.Read(p) }

func (s *source) ReadAt(p []byte, offset int64) (n int, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for n < len(p) {
		at := offset + int64(n)
		if at >= s.info.Size {
			return n, io.EOF
		}
		data, err := s.block(at / blockSize)
		if err != nil {
			return n, err
		}
		n += copy(p[n:], data[at%blockSize:])
	}
	return n, nil
}

func (s *source) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.blocks = nil
	return nil
}

// block returns a block from memory, or reads the block in place of the least recently used block.
func (s *source) block(number int64) ([]byte, error) {
	at := slices.IndexFunc(s.blocks, func(b block) bool { return b.number == number })
	inMemory := at >= 0
	if n := len(s.blocks); n > 0 && number != s.blocks[n-1].number && number != s.blocks[n-1].number+1 {
		s.most = seekBlocks
	}
	if !inMemory && len(s.blocks) >= s.most {
		at = 0
	}
	var b block
	if at >= 0 {
		b = s.blocks[at]
		s.blocks = slices.Delete(s.blocks, at, at+1)
	}
	if !inMemory {
		offset := number * blockSize
		b = block{number, slices.Grow(b.data[:0], blockSize)[:min(blockSize, s.info.Size-offset)]}
		if err := s.fetch(b.data, offset); err != nil {
			return nil, err
		}
	}
	s.blocks = append(s.blocks, b)
	return b.data, nil
}

// fetch fills p from an offset. After a cut connection it continues at the offset. The error of a request, which the Bucket has
// repeated, is final; the error of reading a body is not.
func (s *source) fetch(p []byte, offset int64) error {
	for cuts := 0; ; {
		n, final, err := s.fetchOnce(p, offset)
		p, offset, cuts = p[n:], offset+int64(n), cuts+1
		if n > 0 {
			cuts = 0
		}
		switch {
		case len(p) == 0:
			return nil
		case s.ctx.Err() != nil:
			return fmt.Errorf("%w: %w", reader.ErrInterrupted, context.Cause(s.ctx))
		case final:
			return err
		case cuts == maxCuts:
			return fmt.Errorf("the connection to the storage was cut at byte %d in each of %d attempts: %w", offset, maxCuts, err)
		case n == 0:
			select {
			case <-s.ctx.Done(): // the next read returns the error
			case <-time.After(min(100*time.Millisecond<<cuts, 10*time.Second)):
			}
		}
	}
}

func (s *source) fetchOnce(p []byte, offset int64) (n int, final bool, err error) {
	ctx, cancel := context.WithTimeout(s.ctx, callTimeout)
	defer cancel()
	body, err := s.bucket.Read(ctx, s.key, s.info, offset, int64(len(p)))
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrChanged
	}
	if err != nil {
		return 0, true, noEnd(err)
	}
	defer body.Close() // only read from
	defer time.AfterFunc(readTimeout, cancel).Stop()
	n, err = io.ReadFull(body, p)
	return n, false, noEnd(err)
}

// noEnd replaces io.EOF, which a closed connection may return, by an error that no library takes for the end of the object.
func noEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("%w (%v)", io.ErrUnexpectedEOF, err)
	}
	return err
}

// Stat describes the version of the object as a file.
func (s *source) Stat() (fs.FileInfo, error) { return fileInfo{path.Base(s.key), s.info}, nil }

// fileInfo is an Info as fs.FileInfo.
type fileInfo struct {
	name string
	info Info
}

func (i fileInfo) Name() string       { return i.name }
func (i fileInfo) Size() int64        { return i.info.Size }
func (i fileInfo) Mode() fs.FileMode  { return 0o444 }
func (i fileInfo) ModTime() time.Time { return i.info.Modified }
func (i fileInfo) IsDir() bool        { return false }
func (i fileInfo) Sys() any           { return nil }
