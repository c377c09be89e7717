package reader

import (
	"bytes"
	"encoding/json"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader/internal/pages"
)

// node is a node of a Parquet schema. def and rep are the definition and repetition levels of the format.
type node struct {
	name     string
	repeated bool
	list     bool // a LIST: its only child repeats
	object   bool // a MAP: its only child repeats, with a key and a value
	def, rep int  // definition and repetition level of a value that is present
	children []*node
	mostText int // at this many bytes, the row is too long, and lists end

	// of a leaf
	column           *parquet.Column
	bytes            bool // its values are byte arrays
	untyped          bool // the file does not say what the byte arrays are
	typ              Type
	precision, scale int
	append           func(text []byte, v parquet.Value) []byte
}

func newNode(file *pages.File, c *parquet.Column, most int) *node {
	n := &node{mostText: 2 * most, name: c.Name(), repeated: c.Repeated(), def: c.MaxDefinitionLevel(), rep: c.MaxRepetitionLevel()}
	if c.Leaf() {
		n.column = c
		n.setType(c.Type(), file.LogicalType(c))
		return n
	}
	for _, below := range c.Columns() {
		if hasLeaf(below) {
			n.children = append(n.children, newNode(file, below, most))
		}
	}
	if len(n.children) == 1 && n.children[0].repeated {
		logical := c.Type().LogicalType()
		n.object = logical != nil && logical.Value != nil && logical.Value.String() == "MAP" && len(n.children[0].children) == 2
		n.list = !n.object && logical != nil && logical.Value != nil && logical.Value.String() == "LIST"
	}
	return n
}

// parts returns the dotted paths of the single values in a struct that is called name.
func (n *node) parts(name string) (parts []string) {
	for _, below := range n.children {
		switch path := name + "." + below.name; {
		case n.repeated || below.repeated:
		case below.single():
			parts = append(parts, path)
		default:
			parts = append(parts, below.parts(path)...)
		}
	}
	return parts
}

func (n *node) leaf() bool { return n.append != nil }

// single reports whether a row has one plain value of the node.
func (n *node) single() bool { return n.leaf() && !n.repeated }

// columns returns the leaves of n, in the order of the schema; n itself if it is a leaf.
func (n *node) columns() []*node {
	if n.leaf() {
		return []*node{n}
	}
	var leaves []*node
	for _, below := range n.children {
		leaves = append(leaves, below.columns()...)
	}
	return leaves
}

// appendJSON appends the value of one row. parts has the values of each leaf below n.
func (n *node) appendJSON(text []byte, parts [][]parquet.Value) []byte {
	if n.repeated {
		return n.appendList(text, parts, '[', ']', n.appendPresent)
	}
	if parts[0][0].DefinitionLevel() < n.def {
		return append(text, "null"...)
	}
	return n.appendPresent(text, parts)
}

// appendPresent appends a value that is not null, or one element of a repeated node.
func (n *node) appendPresent(text []byte, parts [][]parquet.Value) []byte {
	switch {
	case n.leaf():
		return n.appendLeaf(text, parts[0][0])
	case n.list:
		below := n.children[0]
		element := below.appendPresent
		// In old files the repeated node is the element itself (Parquet LogicalTypes, backward compatibility).
		if len(below.children) == 1 && below.name != "array" && below.name != n.name+"_tuple" {
			element = below.children[0].appendJSON
		}
		return below.appendList(text, parts, '[', ']', element)
	case n.object:
		return n.children[0].appendList(text, parts, '{', '}', n.children[0].appendEntry)
	}
	text = append(text, '{')
	for i, below := range n.children {
		if i > 0 {
			text = append(text, ',')
		}
		text = append(appendQuoted(text, below.name), ':')
		size := len(below.columns())
		text = below.appendJSON(text, parts[:size])
		parts = parts[size:]
	}
	return append(text, '}')
}

// appendEntry appends the key and the value of an entry of a map.
func (n *node) appendEntry(text []byte, parts [][]parquet.Value) []byte {
	key, value := n.children[0], n.children[1]
	size := len(key.columns())
	name := key.appendJSON(nil, parts[:size])
	if name[0] != '"' {
		name = appendQuoted(nil, string(name))
	}
	return value.appendJSON(append(append(text, name...), ':'), parts[size:])
}

// appendList appends the elements of a repeated node. An element begins at each value whose repetition level is at most n.rep.
func (n *node) appendList(text []byte, parts [][]parquet.Value, open, end byte, element func([]byte, [][]parquet.Value) []byte) []byte {
	text = append(text, open)
	rest := append([][]parquet.Value(nil), parts...)
	one := make([][]parquet.Value, len(parts))
	for first := true; len(rest[0]) > 0 && rest[0][0].DefinitionLevel() >= n.def && len(text) <= n.mostText; first = false {
		for i, values := range rest {
			size := 1
			for size < len(values) && values[size].RepetitionLevel() > n.rep {
				size++
			}
			one[i], rest[i] = values[:size], values[size:]
		}
		if !first {
			text = append(text, ',')
		}
		text = element(text, one)
	}
	return append(text, end)
}

func (n *node) appendLeaf(text []byte, v parquet.Value) []byte {
	value := n.append(text, v)
	switch n.typ {
	case TypeInt64, TypeBool, TypeDecimal, TypeJSON:
		return value
	case TypeDouble:
		if json.Valid(value[len(text):]) {
			return value
		}
	}
	return appendQuoted(text, string(value[len(text):]))
}

// appendQuoted appends a JSON string.
func appendQuoted(text []byte, s string) []byte {
	plain := utf8.ValidString(s)
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		return append(append(append(text, '"'), s...), '"')
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.Encode(s) // cannot fail for a string
	return append(text, bytes.TrimSuffix(b.Bytes(), []byte{'\n'})...)
}
