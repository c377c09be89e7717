package outputs

import (
	"fmt"
	"io"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/reader/pages"
	"github.com/bulkcat/bulkcat/writer"
)

// parquetBatch is how many rows are read at once.
const parquetBatch = 256

// parquetReader reads the rows of a file by row group.
type parquetReader struct {
	names  []string
	values []writer.ValueType // the types of the columns
	most   []byte             // the definition levels of values that are not null
	list   [2]int             // the range of the columns of the list; empty for none
	groups []parquet.RowGroup
	rows   parquet.Rows // of the current group; nil between two groups
	due    int64        // rows of the current group that are not read yet
	ended  bool         // rows is at its end; rows of the batch still point into its memory
	batch  []parquet.Row
	ready  []parquet.Row // read and not returned yet
}

func newParquetReader(f reader.Source) (_ *parquetReader, err error) {
	defer pages.Guard(&err)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in, err := pages.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	p, err := parquetColumns(in)
	if err != nil {
		return nil, err
	}
	p.groups, p.batch = in.RowGroups(), make([]parquet.Row, parquetBatch)
	return p, nil
}

// parquetColumns returns a reader with the columns of a file only.
func parquetColumns(in *pages.File) (*parquetReader, error) {
	p := new(parquetReader)
	for _, c := range in.Root().Columns() {
		if isFlat(c) {
			p.add(c.Name(), c)
			continue
		}
		members := listed(c)
		if members == nil || p.list[1] > 0 {
			return nil, fmt.Errorf("the column %s is neither flat nor the only list of structs", c.Name())
		}
		p.list = [2]int{len(p.names), len(p.names) + len(members)}
		for _, m := range members {
			p.add(c.Name()+"."+m.Name(), m)
		}
	}
	return p, nil
}

func (p *parquetReader) add(name string, c *parquet.Column) {
	p.names = append(p.names, name)
	p.values = append(p.values, valueTypeOf(c.Type()))
	level := byte(0)
	if c.Optional() {
		level++
	}
	if strings.HasPrefix(name, writer.ListPrefix) { // of the repeated level between
		level++
	}
	p.most = append(p.most, level)
}

func isFlat(c *parquet.Column) bool { return c.Leaf() && !c.Repeated() }

// listed returns the members of the structs in a list; nil if c is not a list of flat structs as the
// Parquet specification has it.
func listed(c *parquet.Column) []*parquet.Column {
	if c.Leaf() || c.Repeated() || c.Optional() || c.Type().LogicalType() == nil {
		return nil
	}
	list := c.Column("list")
	if list == nil || list.Leaf() || !list.Repeated() {
		return nil
	}
	element := list.Column("element")
	if element == nil || element.Leaf() || !element.Required() {
		return nil
	}
	members := element.Columns()
	for _, m := range members {
		if !isFlat(m) {
			return nil
		}
	}
	return members
}

func (p *parquetReader) columns() []string { return p.names }

func (p *parquetReader) types() []writer.ValueType { return p.values }

func (p *parquetReader) next() (_ []Row, err error) {
	defer pages.Guard(&err)
	for len(p.ready) == 0 {
		if err := p.read(); err != nil {
			return nil, err
		}
	}
	r := make(Row, len(p.names))
	var list []Row
	element := 0 // of the value, in the list
	for _, v := range p.ready[0] {
		k := v.Column()
		if k < 0 || k >= len(r) {
			return nil, pages.ErrDamaged
		}
		if k < p.list[0] || k >= p.list[1] {
			r[k] = cell(v, p.values[k])
			continue
		}
		if element++; v.RepetitionLevel() == 0 {
			element = 0
		}
		if v.DefinitionLevel() == 0 {
			continue // the list is empty
		}
		if element == MaxRows {
			return nil, errLongList
		}
		if element == len(list) {
			list = append(list, make(Row, p.list[1]-p.list[0]))
		}
		list[element][k-p.list[0]] = cell(v, p.values[k])
	}
	p.ready = p.ready[1:]
	return spread(r, p.list[0], list), nil
}

// read fills ready from the current group, or from the next one.
func (p *parquetReader) read() error {
	if p.ended {
		err := p.rows.Close()
		p.rows, p.ended = nil, false
		return err
	}
	if p.rows == nil {
		if len(p.groups) == 0 {
			return io.EOF
		}
		p.rows, p.due, p.groups = p.groups[0].Rows(), p.groups[0].NumRows(), p.groups[1:]
	}
	n, err := p.rows.ReadRows(p.batch)
	p.ready, p.due = p.batch[:n], p.due-int64(n)
	switch {
	case err == io.EOF && p.due != 0: // a page that is cut short ends its column
		return pages.ErrDamaged
	case err == io.EOF:
		p.ended = true
		return nil
	case err == nil && n == 0:
		return io.ErrNoProgress
	}
	return err
}
