package outputs

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/parquet-go/parquet-go"

	"github.com/bulkcat/bulkcat/reader"
	"github.com/bulkcat/bulkcat/reader/pages"
	"github.com/bulkcat/bulkcat/writer"
)

// parquetBatch is how many rows are read at once.
const parquetBatch = 256

// parquetFile is the columns and the row groups of a file.
type parquetFile struct {
	names  []string
	values []writer.ValueType // the types of the columns
	most   []byte             // the definition levels of values that are not null
	list   [2]int             // the range of the columns of the list; empty for none
	groups []parquet.RowGroup
}

func openParquet(f reader.Source) (_ *parquetFile, err error) {
	defer pages.Guard(&err)
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	in, err := pages.Open(f, info.Size())
	if err != nil {
		return nil, err
	}
	p := &parquetFile{groups: in.RowGroups()}
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

func (p *parquetFile) add(name string, c *parquet.Column) {
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

// rows calls use with each row: see File.Rows. The library reads row by row, so that memory does not grow with the row
// groups: the files of all shards of a run may be open at a time.
func (p *parquetFile) rows(use func([]Row) error) error {
	batch := make([]parquet.Row, parquetBatch)
	for _, group := range p.groups {
		if err := p.groupRows(group, batch, use); err != nil {
			return err
		}
	}
	return nil
}

func (p *parquetFile) groupRows(group parquet.RowGroup, batch []parquet.Row, use func([]Row) error) (err error) {
	var rows parquet.Rows
	defer func() {
		if rows != nil {
			err = errors.Join(err, rows.Close())
		}
	}()
	for left := group.NumRows(); ; {
		n, end := readRows(group, &rows, batch)
		left -= int64(n)
		for _, values := range batch[:n] {
			row, err := p.row(values)
			if err == nil {
				err = use(row)
			}
			if err != nil {
				return err
			}
		}
		switch {
		case end == io.EOF && left != 0: // a page that is cut short ends its column
			return pages.ErrDamaged
		case end == io.EOF:
			return nil
		case end == nil && n == 0:
			return io.ErrNoProgress
		case end != nil:
			return end
		}
	}
}

// readRows opens the rows of a group, unless they are open, and reads some.
func readRows(group parquet.RowGroup, rows *parquet.Rows, batch []parquet.Row) (n int, err error) {
	defer pages.Guard(&err)
	if *rows == nil {
		*rows = group.Rows()
	}
	return (*rows).ReadRows(batch)
}

// row returns a row as text: a Row for each element of its list, or one.
func (p *parquetFile) row(values parquet.Row) (rows []Row, err error) {
	defer pages.Guard(&err)
	r := make(Row, len(p.names))
	var list []Row
	element := 0 // of the value, in the list
	for _, v := range values {
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
	if len(list) == 0 {
		return []Row{r}, nil
	}
	for i, element := range list {
		list[i] = slices.Concat(r[:p.list[0]], element, r[p.list[1]:])
	}
	return list, nil
}
