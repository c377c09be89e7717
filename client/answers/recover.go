package answers

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"os"
	"slices"

	"github.com/ncruces/go-sqlite3"
)

// Recovered counts the answers of a [Recover].
type Recovered struct {
	Answers int64 `json:"answers"` // copied
	Lost    int64 `json:"lost"`    // in what is left of the index of the damaged store, but not readable
	Cut     bool  `json:"cut"`     // the end of the file is missing: neither Answers nor Lost has what was there

	NotesLost bool `json:"notes_lost"` // some notes could not be read
}

// Recover copies all readable answers of a store, which may be damaged, to a new store. No process may use the old store. Recover
// reads every page of the file, because pointers between pages may be wrong, and checks the checksum of each answer. The error
// wraps fs.ErrExist if the file to exists, or is an error of Open.
func Recover(ctx context.Context, from, to string) (n Recovered, err error) {
	if !IsStore(from) {
		return n, inspect(from)
	}
	err = writeNew("recover to", to, func(draft string) error {
		n, err = recoverTo(ctx, from, draft)
		return err
	})
	return n, err
}

func recoverTo(ctx context.Context, from, to string) (n Recovered, err error) {
	s, err := Open(Options{Path: to, Exclusive: true})
	if err != nil {
		return n, err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	b := &Batch{store: s, insert: insertNewer}
	b.notes, n.NotesLost = readNotes(from)
	p, err := openPages(from)
	if err != nil {
		return n, &Error{from, Failed, err}
	}
	defer p.close()
	var named []int64 // ids; the index has each once
	for number := range p.count {
		if ctx.Err() != nil {
			return n, context.Cause(ctx)
		}
		err := p.cells(number+1, func(id int64, w *row) error {
			if w == nil {
				named = append(named, id)
				return nil
			}
			return b.addRow(*w)
		})
		if err != nil {
			return n, err
		}
	}
	err = b.Commit()
	slices.Sort(named)
	named = slices.Compact(named) // pages that are no longer used may repeat some
	n.Answers, n.Lost, n.Cut = b.counts.Added, max(0, int64(len(named))-b.counts.Added), p.isCut()
	return n, err
}

// readNotes returns the notes that can be read, and whether some were lost.
func readNotes(from string) (notes []note, lost bool) {
	o := Options{Path: from}
	old, err := openConn(o.uri(), sqlite3.OPEN_READWRITE)
	if err != nil {
		return nil, true // the store is damaged
	}
	err = old.query("SELECT service, name, body FROM notes", func(columns *sqlite3.Stmt) error {
		notes = append(notes, note{columns.ColumnText(0), columns.ColumnText(1), columns.ColumnBlob(2, nil)})
		return nil
	})
	_ = old.close() // moves the journal into the database if the engine can
	return notes, err != nil
}

// pages reads the newest version of each page of a database: https://sqlite.org/fileformat.html
type pages struct {
	database, journal *os.File // journal may be nil
	count             uint32
	newer             map[uint32]int64 // the offset in the journal of each page that it holds
}

func openPages(path string) (*pages, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	p := &pages{database: f, count: uint32((info.Size() + pageSize - 1) / pageSize), newer: make(map[uint32]int64)}
	if p.journal, err = os.Open(Files(path)[1]); err == nil {
		p.readJournal()
	}
	return p, nil
}

const (
	journalHeader = 32
	frameHeader   = 24
)

// readJournal finds the pages of the journal up to its last commit.
func (p *pages) readJournal() {
	header, frame := make([]byte, journalHeader), make([]byte, frameHeader)
	if _, err := p.journal.ReadAt(header, 0); err != nil {
		return
	}
	open := make(map[uint32]int64)
	for at := int64(journalHeader); ; at += frameHeader + pageSize {
		if _, err := p.journal.ReadAt(frame, at); err != nil || !bytes.Equal(frame[8:16], header[16:24]) { // the salt
			return
		}
		open[binary.BigEndian.Uint32(frame)] = at + frameHeader
		if size := binary.BigEndian.Uint32(frame[4:]); size > 0 {
			for number, offset := range open {
				p.newer[number] = offset
			}
			clear(open)
			p.count = max(p.count, size)
		}
	}
}

// isCut reports whether the header of the database counts more pages than there are.
func (p *pages) isCut() bool {
	return binary.BigEndian.Uint32(p.page(1, make([]byte, pageSize))[28:]) > p.count
}

func (p *pages) close() {
	p.database.Close() // only read from
	p.journal.Close()  // only read from
}

// page reads a page into memory. Bytes that cannot be read are 0.
func (p *pages) page(number uint32, memory []byte) []byte {
	clear(memory)
	if offset, ok := p.newer[number]; ok {
		_, _ = p.journal.ReadAt(memory, offset)
	} else if number > 0 {
		_, _ = p.database.ReadAt(memory, int64(number-1)*pageSize)
	}
	return memory
}

// Kinds of pages.
const (
	indexInterior = 2
	indexLeaf     = 10
	tableLeaf     = 13
)

// cells calls found for each answer of a page, and for each answer that a page of the index points to, with a nil row.
func (p *pages) cells(number uint32, found func(id int64, w *row) error) error {
	page := p.page(number, make([]byte, pageSize))
	start := 0
	if number == 1 {
		start = headerBytes
	}
	kind, first := page[start], start+8
	if kind != indexInterior && kind != indexLeaf { // the kind of a page of answers may be damaged, and other pages have none
		kind = tableLeaf
	}
	if kind == indexInterior {
		first += 4
	}
	count, content := int(binary.BigEndian.Uint16(page[start+3:])), int(binary.BigEndian.Uint16(page[start+5:]))
	for at := first + 2*count; at+2 <= min(content, pageSize) && binary.BigEndian.Uint16(page[at:]) > 0; at += 2 { // the count is damaged
		count++
	}
	for i := range min(count, (pageSize-first)/2) {
		cell := page[min(int(binary.BigEndian.Uint16(page[first+2*i:])), pageSize):]
		if kind == indexInterior {
			cell = cell[min(4, len(cell)):]
		}
		size, n := varint(cell)
		cell = cell[n:]
		switch kind {
		case tableLeaf:
			id, n := varint(cell)
			if w, ok := parseRow(p.payload(cell[n:], size, usable-35)); ok {
				if err := found(id, w); err != nil {
					return err
				}
			}
		case indexLeaf, indexInterior:
			columns := record(p.payload(cell, size, (usable-12)*64/255-23))
			if len(columns) == 5 && columns[4].number > 0 {
				if err := found(columns[4].number, nil); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

const (
	usable      = pageSize - checksumBytes
	mostPayload = 64 << 20 // more than any answer
)

// payload returns a copy of the content of a cell; nil if the cell is wrong. Up to most bytes of the content are on the page, and
// the rest on overflow pages, each of which begins with the number of the next.
func (p *pages) payload(cell []byte, size int64, most int) []byte {
	if size < 0 || size > mostPayload {
		return nil
	}
	local, pointer := int(size), 0
	if local > most {
		least := (usable-12)*32/255 - 23
		if local = least + (int(size)-least)%(usable-4); local > most {
			local = least
		}
		pointer = 4
	}
	if len(cell) < local+pointer {
		return nil
	}
	text, rest, memory := bytes.Clone(cell[:local]), cell[local:], make([]byte, pageSize)
	for len(text) < int(size) {
		next := binary.BigEndian.Uint32(rest)
		if next == 0 || next > p.count {
			return nil
		}
		rest = p.page(next, memory)
		text = append(text, rest[4:min(usable, 4+int(size)-len(text))]...)
	}
	return text
}

// column is a value of a record.
type column struct {
	number int64
	text   []byte
}

// record reads the columns of a record; nil if the record is wrong.
func record(payload []byte) (columns []column) {
	size, n := varint(payload)
	if size < int64(n) || size > int64(len(payload)) || n == 0 {
		return nil
	}
	types, body := payload[n:size], payload[size:]
	for len(types) > 0 {
		kind, n := varint(types)
		if n == 0 {
			return nil
		}
		types = types[n:]
		var c column
		length := int64(0)
		switch {
		case kind >= 12:
			length = (kind - 12) / 2
		case kind >= 1 && kind <= 6:
			length = [...]int64{1, 2, 3, 4, 6, 8}[kind-1]
		case kind == 9:
			c.number = 1
		}
		if kind < 0 || length > int64(len(body)) {
			return nil
		}
		if c.text = body[:length]; kind < 12 && length > 0 {
			c.number = int64(int8(c.text[0]))
			for _, b := range c.text[1:] {
				c.number = c.number<<8 | int64(b)
			}
		}
		body = body[length:]
		columns = append(columns, c)
	}
	return columns
}

// parseRow parses a row of the table answers, and reports whether its checksum is right.
func parseRow(payload []byte) (*row, bool) {
	c := record(payload)
	if len(c) != 11 {
		return nil, false
	}
	w := row{
		service: c[1].text, kind: c[2].text, classification: c[3].text, input: c[4].text, result: c[5].text,
		status: c[6].number, asked: c[7].number, answered: c[8].number, body: c[9].text,
	}
	return &w, w.checksum() == c[10].number
}

// varint reads a number of one to nine bytes. n is the number of bytes; 0 if text is too short.
func varint(text []byte) (value int64, n int) {
	for n < len(text) && n < 8 {
		b := text[n]
		n++
		if value = value<<7 | int64(b&0x7f); b < 0x80 {
			return value, n
		}
	}
	if n < 8 || n == len(text) {
		return 0, 0
	}
	return value<<8 | int64(text[8]), 9
}
