package reader

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Dialect is the form of rows as text, in the terms of the Frictionless CSV Dialect. A member with its zero value is detected
// from the content.
type Dialect struct {
	Delimiter string // one character between the fields
	Quote     string // one ASCII character, or None
	Escape    string // one ASCII character before a quote in a quoted field, or before a delimiter; or None
	Comment   string // the beginning of lines that are comments, or None
	Header    int    // the line (in Excel the row) with the names of the columns, from 1; or NoHeader
	// Strict accepts only RFC 4180: a quote in an unquoted field, text after a closing quote, and a row with more or fewer
	// fields than the header are faults, and a first line such as "sep=;" is data. Nothing is detected, not even the encoding.
	Strict bool
}

// None is the value of a member of Dialect that the text does not have.
const None = "none"

// NoHeader is the Header of text without a header. The columns are then named 1, 2 and so on.
const NoHeader = -1

// characters are names for characters that are hard to write on a command line.
var characters = map[string]string{"tab": "\t", `\t`: "\t", "comma": ",", "semicolon": ";", "bar": "|", "space": " ", "backslash": `\`, "doublequote": `"`}

// ParseDialect parses a dialect such as delimiter=tab,quote=none,header=3,strict.
func ParseDialect(text string) (Dialect, error) {
	var d Dialect
	for rest := text; rest != ""; {
		member, after, more := strings.Cut(rest, ",")
		name, value, valued := strings.Cut(member, "=")
		if valued && value == "" && more && (after == "" || after[0] == ',') { // the comma is the value
			value, after = ",", strings.TrimPrefix(after, ",")
		}
		rest = after
		if err := d.set(strings.TrimSpace(name), value); err != nil {
			return d, err
		}
	}
	return d, d.check()
}

// texts returns the members that are texts, by their names.
func (d *Dialect) texts() ([]string, []*string) {
	return []string{"delimiter", "quote", "escape", "comment"}, []*string{&d.Delimiter, &d.Quote, &d.Escape, &d.Comment}
}

func (d *Dialect) set(name, value string) (err error) {
	names, texts := d.texts()
	i := slices.Index(names, name)
	switch {
	case name == "strict":
		d.Strict = true
		if value != "" {
			return errors.New("strict has no value")
		}
	case i < 0 && name != "header":
		return fmt.Errorf("unknown member %q; want delimiter=, quote=, escape=, comment=, header= or strict", name)
	case value == "":
		return fmt.Errorf("%s= has no value", name)
	case i >= 0:
		*texts[i] = cmp.Or(characters[value], value)
	case value == None:
		d.Header = NoHeader
	default:
		if d.Header, err = strconv.Atoi(value); err != nil || d.Header < 1 {
			return fmt.Errorf("header=%s: want the number of a line, or %s", value, None)
		}
	}
	return nil
}

// check returns an error for an invalid dialect.
func (d *Dialect) check() error {
	r, size := utf8.DecodeRuneInString(d.Delimiter)
	isMark := func(s string) bool { return s == "" || s == None || len(s) == 1 && s > " " && s < "\x7f" }
	switch {
	case d.Delimiter != "" && (size != len(d.Delimiter) || strings.ContainsRune("\ufffd\"\r\n", r)):
		return fmt.Errorf("%q cannot separate fields", d.Delimiter)
	case !isMark(d.Quote):
		return fmt.Errorf("%q cannot quote: want one ASCII character, or %s", d.Quote, None)
	case !isMark(d.Escape):
		return fmt.Errorf("%q cannot escape: want one ASCII character, or %s", d.Escape, None)
	case d.Delimiter != "" && (d.Delimiter == d.Quote || d.Delimiter == d.Escape):
		return fmt.Errorf("%q has two meanings", d.Delimiter)
	}
	return nil
}

// String returns the dialect in the form of ParseDialect; "" for the zero value.
func (d Dialect) String() string {
	var parts []string
	names, texts := d.texts()
	for i, text := range texts {
		switch *text {
		case "":
		case "\t":
			parts = append(parts, names[i]+"=tab")
		default:
			parts = append(parts, names[i]+"="+*text)
		}
	}
	switch d.Header {
	case 0:
	case NoHeader:
		parts = append(parts, "header="+None)
	default:
		parts = append(parts, "header="+strconv.Itoa(d.Header))
	}
	if d.Strict {
		parts = append(parts, "strict")
	}
	return strings.Join(parts, ",")
}

// noHeader reports whether the first row is data.
func (d *Dialect) noHeader() bool { return d.Header == NoHeader }

// given returns a member of a dialect: "" if it is None.
func given(member string) string {
	if member == None {
		return ""
	}
	return member
}

// comment returns the beginning of comments in txt; "" for none.
func (o *Options) comment() string { return given(cmp.Or(o.Dialect.Comment, o.Comment)) }
