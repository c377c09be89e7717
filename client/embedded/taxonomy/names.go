package taxonomy

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// compressedNames has a line "# de" for each language, followed by lines with an id, a tab and a name.
//
//go:embed names.tsv.zst
var compressedNames []byte

// Names returns the names of the product taxonomy's categories, without their ancestors, by language and id. A language is an
// ISO 639-1 code, such as "de". The names are from the edition of 2015-02-19, which lacks later categories. The maps are shared
// and must not be modified.
var Names = sync.OnceValue(func() map[string]map[string]string {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		panic(err)
	}
	defer d.Close()
	text, err := d.DecodeAll(compressedNames, nil)
	if err != nil {
		panic(err) // the file is part of the program and tested
	}
	all := make(map[string]map[string]string)
	var names map[string]string
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		if language, ok := strings.CutPrefix(line, "# "); ok {
			names = make(map[string]string)
			all[language] = names
			continue
		}
		id, name, _ := strings.Cut(line, "\t")
		names[id] = name
	}
	return all
})

// Languages returns the other languages in which the edition's categories have names, sorted; nil for none.
func (e Edition) Languages() []string {
	if e.Names == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(e.Names()))
}

// In returns the taxonomy with Category.Local set to the paths in one of Languages. A category without a name in that language
// keeps its English name.
func (e Edition) In(language string) *Taxonomy {
	t := e.Load()
	names := e.Names()[language]
	local := &Taxonomy{Name: t.Name, Categories: slices.Clone(t.Categories)}
	for i := range local.Categories {
		c := &local.Categories[i]
		c.Local = cmp.Or(names[c.ID], c.Name)
		if c.Parent >= 0 {
			c.Local = local.Categories[c.Parent].Local + PathSeparator + c.Local
		}
	}
	return local
}
