package outputs

import (
	"errors"
	"strings"
)

// addCSV adds the rows of a block of delimited text. It is written by hand: encoding/csv reads CR LF inside quotes as
// LF, and needs several times the time.
func (t *textRows) addCSV(block string) (err error) {
	for len(block) > 0 && err == nil {
		block, err = t.addRow(block, len(t.names))
	}
	return err
}

var errFields = errors.New("a row has other fields than the header")

// addRow adds the first row of a block, which must have that number of fields; any number if fields is negative. It
// returns the rest. Empty lines are no rows.
func (t *textRows) addRow(block string, fields int) (rest string, err error) {
	line, rest, _ := strings.Cut(block, "\n")
	for line == "" || line == "\r" {
		if rest == "" {
			return "", nil
		}
		block = rest
		line, rest, _ = strings.Cut(block, "\n")
	}
	n := 0
	if strings.IndexByte(line, '"') < 0 {
		n, err = t.addPlain(strings.TrimSuffix(line, "\r"))
	} else {
		n, rest, err = t.addQuoted(block)
	}
	if err == nil && fields >= 0 && n != fields {
		err = errFields
	}
	if err == nil {
		err = t.end()
	}
	return rest, err
}

// addPlain adds the fields of a row without quotes, and returns their number.
func (t *textRows) addPlain(line string) (fields int, err error) {
	for ; t.use != nil || fields < len(t.columns); fields++ {
		n := strings.IndexByte(line, t.comma)
		if n < 0 {
			return fields + 1, t.add(fields, line)
		}
		if err := t.add(fields, line[:n]); err != nil {
			return fields, err
		}
		line = line[n+1:]
	}
	return fields + strings.Count(line, string([]byte{t.comma})) + 1, nil // carried columns, which are not read
}

// addQuoted adds the fields of the first row of a block, and returns their number and the rest.
func (t *textRows) addQuoted(block string) (fields int, rest string, err error) {
	separators := string([]byte{t.comma, '\n', '"'})
	for {
		cell := ""
		if strings.HasPrefix(block, `"`) {
			if cell, block, err = quotedCell(block); err != nil {
				return fields, "", err
			}
			if strings.HasPrefix(block, "\r\n") {
				block = block[1:]
			}
		} else {
			n := strings.IndexAny(block, separators)
			if n < 0 {
				n = len(block)
			}
			cell, block = block[:n], block[n:]
			if block == "" || block[0] == '\n' {
				cell = strings.TrimSuffix(cell, "\r")
			}
		}
		if err := t.add(fields, cell); err != nil {
			return fields, "", err
		}
		fields++
		switch {
		case block == "":
			return fields, "", nil
		case block[0] == '\n':
			return fields, block[1:], nil
		case block[0] != t.comma:
			return fields, "", errors.New("a quote is neither at the beginning nor at the end of a cell")
		}
		block = block[1:]
	}
}

// quotedCell cuts a cell in quotes off. Quotes inside are doubled.
func quotedCell(block string) (cell, rest string, err error) {
	for begin, at := 1, 1; ; {
		n := strings.IndexByte(block[at:], '"')
		if n < 0 {
			return "", "", errors.New("a quote is not closed")
		}
		if at += n; !strings.HasPrefix(block[at+1:], `"`) {
			return cell + block[begin:at], block[at+1:], nil
		}
		cell += block[begin : at+1]
		at += 2
		begin = at
	}
}
