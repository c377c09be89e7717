package reader

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"
)

const (
	// excelUnzipped is the most bytes of an Excel file after unzipping. A sheet has at most a million rows, so a larger file is
	// a zip bomb.
	excelUnzipped = 2 << 30
	// maxEntries is the most sheets, relationships or styles of a workbook. Excel has at most 65,490 styles.
	maxEntries = 1 << 16
)

// zipMagic begins a zip archive, such as an Excel file.
const zipMagic = "PK\x03\x04"

// errNoWorkbook is the error of an Office file that is not a workbook.
var errNoWorkbook = errors.New("no workbook")

// book is an opened Excel file. It finds parts by their relationships (ECMA-376 part 2 §6.5), because programs give the parts
// different names.
type book struct {
	parts    map[string][]*zip.File // by partName
	from1904 bool                   // days are counted from 1904
	sheets   []bookSheet
	related  []relation // of the workbook
	styles   cellStyles
}

type bookSheet struct {
	name   string
	part   string // "" if there is none
	hidden bool
}

// relation is a relationship of a part to another part.
type relation struct{ id, kind, target string }

// target returns the target of the first relationship of a kind; "" for none.
func target(list []relation, kind string) string {
	for _, r := range list {
		if r.kind == kind {
			return r.target
		}
	}
	return ""
}

// partName returns the normalized name of a part. Spellings differ in case and escapes, and Windows programs write backslashes.
func partName(name string) string {
	name = strings.ReplaceAll(name, `\`, "/")
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.ToLower(path.Join("/", name))
}

// isExcel reports whether the content is a zip archive in an Office Open XML format.
func isExcel(head []byte, body Source, size int64) bool {
	if !bytes.HasPrefix(head, []byte(zipMagic)) {
		return false
	}
	archive, err := zip.NewReader(body, size)
	return err == nil && slices.ContainsFunc(archive.File, func(f *zip.File) bool {
		name := partName(f.Name)
		return name == "/[content_types].xml" || name == "/_rels/.rels"
	})
}

func damagedExcel(name string, reason error) error {
	return &UnsupportedError{name, fmt.Sprintf("a damaged Excel file (%v)", reason), "save it again, or save it as CSV"}
}

// newBook reads the sheets and styles of an Excel file.
func newBook(body io.ReaderAt, size int64) (*book, error) {
	archive, err := zip.NewReader(body, size)
	if err != nil {
		return nil, err
	}
	b := &book{parts: make(map[string][]*zip.File, len(archive.File)), styles: cellStyles{forms: map[int]dateForm{}}}
	var unzipped uint64
	for _, f := range archive.File {
		// Unzipping a part fails once the part exceeds its UncompressedSize64.
		unzipped += min(f.UncompressedSize64, excelUnzipped)
		b.parts[partName(f.Name)] = append(b.parts[partName(f.Name)], f)
	}
	if unzipped >= excelUnzipped {
		return nil, errors.New("it has more than 2 GiB unzipped")
	}
	main, err := b.relations("/")
	if err != nil {
		return nil, err
	}
	workbook := target(main, "officeDocument")
	if workbook == "" || path.Ext(workbook) == ".bin" {
		return nil, errNoWorkbook
	}
	if b.related, err = b.relations(workbook); err != nil {
		return nil, err
	}
	err = b.read(workbook, "workbook", b.readWorkbook)
	if _, other := errors.AsType[*rootError](err); other {
		err = errNoWorkbook
	}
	if err != nil {
		return nil, err
	}
	if styles := target(b.related, "styles"); styles != "" {
		err = b.read(styles, "styleSheet", b.readStyles)
	}
	return b, err
}

// open opens a part with a root element.
func (b *book) open(name, root string) (*xmlPart, error) {
	switch found := b.parts[name]; len(found) {
	case 1:
		return openXMLPart(found[0], root)
	case 0:
		return nil, fmt.Errorf("its part %s is missing", name)
	default:
		return nil, fmt.Errorf("it has %d parts %s", len(found), name)
	}
}

// read reads a whole part by calling readChild for each element directly inside the root.
func (b *book) read(name, root string, readChild func(*xmlPart, xml.StartElement) error) (err error) {
	p, err := b.open(name, root)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, p.Close()) }()
	if err := p.each(func(e xml.StartElement) error { return readChild(p, e) }); err != nil {
		return err
	}
	return p.end()
}

// relations returns the relationships of a part, or of the package for "/".
func (b *book) relations(source string) (list []relation, err error) {
	folder, base := path.Split(source)
	name := folder + "_rels/" + base + ".rels"
	if len(b.parts[name]) == 0 {
		return nil, nil
	}
	err = b.read(name, "Relationships", func(p *xmlPart, e xml.StartElement) error {
		target := strings.ReplaceAll(attribute(e, "Target"), `\`, "/")
		if attribute(e, "TargetMode") == "External" || target == "" {
			return nil
		}
		if !path.IsAbs(target) {
			target = folder + target
		}
		list = append(list, relation{attribute(e, "Id"), path.Base(attribute(e, "Type")), partName(target)})
		return tooMany(len(list), "relationships")
	})
	return list, err
}

func tooMany(n int, what string) error {
	if n > maxEntries {
		return fmt.Errorf("it has more than %d %s", maxEntries, what)
	}
	return nil
}

func (b *book) readWorkbook(p *xmlPart, e xml.StartElement) error {
	switch e.Name.Local {
	case "workbookPr":
		b.from1904 = isTrue(attribute(e, "date1904"))
	case "sheets":
		return p.each(func(e xml.StartElement) error {
			id, state := attribute(e, "id"), attribute(e, "state")
			s := bookSheet{name: attribute(e, "name"), hidden: state == "hidden" || state == "veryHidden"}
			i := slices.IndexFunc(b.related, func(r relation) bool { return r.id == id })
			if i >= 0 {
				s.part = b.related[i].target
			}
			if i < 0 || b.related[i].kind == "worksheet" { // and not a chart
				b.sheets = append(b.sheets, s)
			}
			return tooMany(len(b.sheets), "sheets")
		})
	}
	return nil
}

// isTrue reports whether a boolean of XML Schema is true.
func isTrue(value string) bool { return value == "1" || value == "true" }

func (b *book) readStyles(p *xmlPart, e xml.StartElement) error {
	switch e.Name.Local {
	case "numFmts":
		return p.each(func(e xml.StartElement) error {
			return b.styles.addForm(attribute(e, "numFmtId"), attribute(e, "formatCode"))
		})
	case "cellXfs":
		return p.each(func(e xml.StartElement) error {
			return b.styles.add(attribute(e, "numFmtId"))
		})
	}
	return nil
}

// choose returns the sheet with a name, in any case; the first sheet for "".
func (b *book) choose(file, name string) (bookSheet, error) {
	if len(b.sheets) == 0 {
		return bookSheet{}, damagedExcel(file, errors.New("it has no sheet"))
	}
	if name == "" {
		return b.sheets[0], nil
	}
	same := sameName(name)
	i := slices.IndexFunc(b.sheets, func(s bookSheet) bool { return same(s.name) })
	if i < 0 {
		return bookSheet{}, &OptionError{"Sheet", fmt.Sprintf("%s has no sheet %q; its sheets: %s", displayName(file), name, listColumns(b.names()))}
	}
	return b.sheets[i], nil
}

func (b *book) names() []string {
	names := make([]string, len(b.sheets))
	for i, s := range b.sheets {
		names[i] = s.name
	}
	return names
}

// unread returns the names of the visible sheets after the first that have cells with values. A sheet that cannot be read is left
// out: the run does not need it.
func (b *book) unread() (names []string) {
	for _, s := range b.sheets[1:] {
		if !s.hidden && b.hasValues(s) {
			names = append(names, s.name)
		}
	}
	return names
}

// hasValues reports whether a sheet has a cell with a value.
func (b *book) hasValues(s bookSheet) bool {
	rows, err := b.rows(s)
	if err != nil {
		return false
	}
	defer rows.Close() // only read from
	for {
		t, err := rows.part.token() // and not rows.next, which looks up shared strings
		if err != nil || rows.part.level < sheetLevel {
			return false
		}
		if e, ok := t.(xml.StartElement); ok && (e.Name.Local == "v" || e.Name.Local == "is") {
			return true
		}
	}
}
