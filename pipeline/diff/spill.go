package diff

import (
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"math"
	"os"
	"strings"

	"github.com/cespare/xxhash/v2"

	"github.com/bulkcat/bulkcat/pipeline/outputs"
	"github.com/bulkcat/bulkcat/writer"
)

// spill is a temporary file of partitions. A partition is a list of blocks, with whole entries in each.
type spill struct {
	file       *os.File
	size       int64
	partitions []partition
}

type partition struct {
	buffer []byte // not written yet
	blocks []block
}

type block struct {
	at   int64
	size int
}

// blockSize is the size from which on a block is written, in bytes. There is a buffer for each partition.
const blockSize = 32 << 10

func newSpill(dir string, partitions int) (*spill, error) {
	if dir == "" {
		dir = os.TempDir()
	}
	f, err := os.CreateTemp(dir, ".bulkcat-diff-*")
	if err != nil {
		return nil, err
	}
	_ = os.Remove(f.Name()) // the file lives until it is closed; close removes it where it cannot be removed yet
	return &spill{file: f, partitions: make([]partition, partitions)}, nil
}

func (s *spill) close() {
	_ = s.file.Close()
	_ = os.Remove(s.file.Name()) // usually removed already
}

// written records that the buffer of a partition has another entry.
func (s *spill) written(p *partition) error {
	if len(p.buffer) < blockSize {
		return nil
	}
	if _, err := s.file.WriteAt(p.buffer, s.size); err != nil {
		return err
	}
	p.blocks = append(p.blocks, block{s.size, len(p.buffer)})
	s.size += int64(len(p.buffer))
	p.buffer = p.buffer[:0]
	return nil
}

// blockReader reads the blocks of a partition in order.
type blockReader struct {
	spill *spill
	*partition
	next int
	memo []byte
}

func (s *spill) read(k int) *blockReader { return &blockReader{spill: s, partition: &s.partitions[k]} }

// block returns the next block; io.EOF after the last one. It is valid until the next call.
func (r *blockReader) block() ([]byte, error) {
	if r.next == len(r.blocks) {
		r.next++
		return r.buffer, nil
	}
	if r.next > len(r.blocks) {
		return nil, io.EOF
	}
	b := r.blocks[r.next]
	if r.next++; cap(r.memo) < b.size {
		r.memo = make([]byte, b.size)
	}
	_, err := r.spill.file.ReadAt(r.memo[:b.size], b.at)
	return r.memo[:b.size], err
}

// words numbers the texts that repeat: classifications, statuses, categories and their ids.
type words struct {
	list   []string
	number map[string]uint32
}

// mostWords bounds the memory of words. Further texts are written out.
const mostWords = 1 << 17

func newWords() *words { return &words{list: []string{""}, number: map[string]uint32{"": 0}} }

// add returns the number of a text; false if there are too many.
func (w *words) add(text string) (uint32, bool) {
	n, ok := w.number[text]
	if !ok && len(w.list) < mostWords {
		n, ok = uint32(len(w.list)), true
		text = string([]byte(text)) // without the texts around
		w.number[text], w.list = n, append(w.list, text)
	}
	return n, ok
}

// append appends a text to an entry, by its number or written out.
func (w *words) append(to []byte, text string) []byte {
	if n, ok := w.add(text); ok {
		return binary.AppendUvarint(to, uint64(n)+1)
	}
	return appendText(append(to, 0), text)
}

// read reads a text from an entry.
func (w *words) read(from *[]byte) string {
	if n := readUvarint(from); n > 0 {
		return w.list[n-1]
	}
	return string(readBytes(from))
}

func appendText(to []byte, text string) []byte {
	return append(binary.AppendUvarint(to, uint64(len(text))), text...)
}

// readUvarint reads a number that this process has written.
func readUvarint(from *[]byte) uint64 {
	n, size := binary.Uvarint(*from)
	*from = (*from)[size:]
	return n
}

func readBytes(from *[]byte) []byte {
	n := readUvarint(from)
	text := (*from)[:n]
	*from = (*from)[n:]
	return text
}

// appendVersion appends a version to an entry.
func (w *words) appendVersion(to []byte, v *Version) []byte {
	to = binary.AppendUvarint(to, uint64(v.Record))
	to = w.append(to, string(v.Status))
	to = w.append(to, v.Value)
	to = w.append(to, v.CategoryID)
	return binary.LittleEndian.AppendUint64(to, math.Float64bits(v.Confidence))
}

func (w *words) readVersion(from *[]byte) (v Version) {
	v.Record = int64(readUvarint(from))
	v.Status, v.Value, v.CategoryID = writer.Status(w.read(from)), w.read(from), w.read(from)
	v.Confidence = math.Float64frombits(readUint64(from))
	return v
}

func readUint64(from *[]byte) uint64 {
	n := binary.LittleEndian.Uint64(*from)
	*from = (*from)[8:]
	return n
}

// columns are those that a comparison needs.
var columns = outputs.Of(writer.ColumnRecord, writer.ColumnInput, writer.ColumnStatus, writer.ColumnClassification,
	writer.ColumnValue, writer.ColumnCategoryID, writer.ColumnConfidence)

// split writes the versions of a side into its partitions: of each record the category of the highest confidence.
func (c *comparison) split(ctx context.Context, side Side, to *spill) error {
	var s splitter
	s.comparison, s.to = c, to
	err := outputs.Scan(ctx, side.Parts, columns, func(b *outputs.Batch) error {
		if b.First {
			if err := s.end(); err != nil {
				return err
			}
		}
		for i := range b.Len {
			if err := s.add(b, i); err != nil {
				return err
			}
		}
		s.keep()
		return nil
	})
	if err == nil {
		err = s.end()
	}
	return err
}

// splitter writes a version once all of its rows have come.
type splitter struct {
	*comparison
	to   *spill
	hash xxhash.Digest

	begun          bool
	version        Version
	input          string
	classification string
}

// add adds a row.
func (s *splitter) add(b *outputs.Batch, i int) error {
	record, name := b.Wholes[writer.ColumnRecord][i], b.Texts[writer.ColumnClassification].At(i)
	confidence := b.Reals[writer.ColumnConfidence][i]
	same := s.begun && record == s.version.Record && name == s.classification
	if same && !cmp.Less(s.version.Confidence, confidence) { // NaN is below all numbers
		return nil
	}
	if !same {
		if err := s.end(); err != nil {
			return err
		}
	}
	s.begun, s.classification, s.input = true, name, b.Texts[writer.ColumnInput].At(i)
	s.version = Version{
		Record: record, Status: writer.Status(b.Texts[writer.ColumnStatus].At(i)),
		Value: b.Texts[writer.ColumnValue].At(i), CategoryID: b.Texts[writer.ColumnCategoryID].At(i), Confidence: confidence,
	}
	return nil
}

// keep copies the texts of a version that may have more rows: those of a batch are overwritten by the next.
func (s *splitter) keep() {
	v := &s.version
	s.classification, s.input = strings.Clone(s.classification), strings.Clone(s.input)
	v.Status, v.Value, v.CategoryID = writer.Status(strings.Clone(string(v.Status))), strings.Clone(v.Value), strings.Clone(v.CategoryID)
}

// end writes the version.
func (s *splitter) end() error {
	if !s.begun {
		return nil
	}
	s.begun = false
	key, input := s.key(s.input), s.input
	s.hash.Reset()
	_, _ = s.hash.WriteString(key) // never fails
	_, _ = s.hash.WriteString("\x00")
	_, _ = s.hash.WriteString(s.classification)
	sum := s.hash.Sum64()
	p := &s.to.partitions[sum%uint64(len(s.to.partitions))]
	p.buffer = binary.LittleEndian.AppendUint64(p.buffer, sum)
	p.buffer = s.words.append(p.buffer, s.classification)
	p.buffer = appendText(p.buffer, key)
	if input == key {
		input = "" // most are: the key need not be kept twice
	}
	p.buffer = appendText(p.buffer, input)
	p.buffer = s.words.appendVersion(p.buffer, &s.version)
	return s.to.written(p)
}
