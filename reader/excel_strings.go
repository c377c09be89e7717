package reader

import (
	"encoding/binary"
	"encoding/xml"
	"errors"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
)

const (
	// stringsInMemory is the most bytes of shared strings in memory. Further strings are in a temporary file.
	stringsInMemory = 16 << 20
	// stringsPerBlock is the number of strings that are read from the temporary file at once.
	stringsPerBlock = 32
	// maxStrings is the most shared strings of a workbook: 16 columns of distinct text in a full sheet.
	maxStrings = 16 * excelRowLimit
)

// sharedStrings are the strings that cells refer to by number. They are read from their part when cells need them. They are
// kept in blocks, each string after its length: first in memory, then in a temporary file.
type sharedStrings struct {
	book   *book
	part   *xmlPart // nil before the first string
	count  int64
	ended  bool
	memory []byte
	file   *os.File // nil while memory is enough
	starts []int64  // of the blocks; the last block is the tail
	stored int64    // bytes of the blocks before the tail
	tail   []byte   // the last block, which is not full
	block  []byte   // the last block that was read from the file
	loaded int      // the number of block; -1 for none
	text   []byte
}

func (s *sharedStrings) Close() error {
	var err error
	if s.part != nil {
		err = s.part.Close()
	}
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
		_ = os.Remove(s.file.Name()) // for Windows; elsewhere it has been removed
	}
	return err
}

// get returns the string with a number, counted from 0.
func (s *sharedStrings) get(number string) (string, error) {
	n, err := strconv.ParseInt(number, 10, 64)
	if err != nil || n < 0 {
		return "", fmt.Errorf("a cell has the shared string %q", number)
	}
	for s.count <= n && !s.ended {
		if err := s.read(); err != nil {
			return "", err
		}
	}
	if s.count <= n {
		return "", fmt.Errorf("a cell has the shared string %d of %d", n, s.count)
	}
	block, err := s.load(int(n / stringsPerBlock))
	if err != nil {
		return "", err
	}
	for range n % stringsPerBlock {
		_, block = cutString(block)
	}
	text, _ := cutString(block)
	return string(text), nil
}

// cutString cuts the first string off a block.
func cutString(block []byte) (text, rest []byte) {
	size, n := binary.Uvarint(block)
	return block[n : n+int(size)], block[n+int(size):]
}

// finish reads the part to its end, if it was opened.
func (s *sharedStrings) finish() error {
	for s.part != nil && !s.ended {
		if err := s.read(); err != nil {
			return err
		}
	}
	return nil
}

func (s *sharedStrings) read() error {
	if s.part == nil {
		var err error
		if s.part, err = s.book.open(target(s.book.related, "sharedStrings"), "sst"); err != nil {
			return err
		}
	}
	switch e, more, err := s.part.child(1); {
	case err != nil:
		return err
	case !more:
		s.ended = true
		return s.part.end()
	case e.Name.Local != "si":
		return nil
	}
	if s.count == maxStrings {
		return fmt.Errorf("%s: more than %d shared strings", s.part.name, maxStrings)
	}
	var err error
	if s.text, err = s.part.richText(s.text[:0]); err != nil {
		return err
	}
	return s.add(unescape(string(s.text)))
}

func (s *sharedStrings) add(text string) error {
	if s.count%stringsPerBlock == 0 {
		if err := s.flush(); err != nil {
			return err
		}
	}
	s.tail = binary.AppendUvarint(s.tail, uint64(len(text)))
	s.tail = append(s.tail, text...)
	s.count++
	return nil
}

// flush moves the tail to the other blocks.
func (s *sharedStrings) flush() error {
	s.stored += int64(len(s.tail))
	s.starts = append(s.starts, s.stored)
	switch {
	case s.file == nil && len(s.memory)+len(s.tail) <= stringsInMemory:
		s.memory = append(s.memory, s.tail...)
	case s.file == nil:
		var err error
		if s.file, err = os.CreateTemp("", "bulkcat-strings-"); err != nil {
			return fmt.Errorf("keep the shared strings: %w", err)
		}
		_ = os.Remove(s.file.Name()) // fails on Windows, where Close removes the file
		fallthrough
	default:
		if _, err := s.file.Write(s.tail); err != nil {
			return fmt.Errorf("keep the shared strings: %w", err)
		}
	}
	s.tail = s.tail[:0]
	return nil
}

func (s *sharedStrings) load(number int) ([]byte, error) {
	if number == len(s.starts)-1 {
		return s.tail, nil
	}
	start, end, inMemory := s.starts[number], s.starts[number+1], int64(len(s.memory))
	if end <= inMemory {
		return s.memory[start:end], nil
	}
	if s.loaded == number {
		return s.block, nil
	}
	s.loaded = -1
	s.block = append(s.block[:0], make([]byte, end-start)...)
	if _, err := s.file.ReadAt(s.block, start-inMemory); err != nil {
		return nil, fmt.Errorf("read the shared strings: %w", err)
	}
	s.loaded = number
	return s.block, nil
}

// richText appends the text of a string item: of its element t, and of the elements t of its runs. It leaves out Japanese
// phonetic text.
func (p *xmlPart) richText(text []byte) ([]byte, error) {
	err := p.each(func(e xml.StartElement) (err error) {
		switch e.Name.Local {
		case "t":
			text, err = p.text(text)
		case "r":
			err = p.each(func(e xml.StartElement) (err error) {
				if e.Name.Local == "t" {
					text, err = p.text(text)
				}
				return err
			})
		}
		return err
	})
	return text, err
}

// escaped matches Excel's escapes of characters that XML does not have, such as _x000D_ (ECMA-376 part 1 §22.9.2.19).
var escaped = regexp.MustCompile(`_x[0-9A-Fa-f]{4}_`)

func unescape(text string) string {
	if !strings.Contains(text, "_x") {
		return text
	}
	return escaped.ReplaceAllStringFunc(text, func(code string) string {
		r, _ := strconv.ParseUint(code[2:6], 16, 32) // four hexadecimal digits
		return string(rune(r))
	})
}
