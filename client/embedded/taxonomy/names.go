package taxonomy

import (
	_ "embed"
	"strings"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// compressedNames has a line "# de" for each language, and below it lines of an id and a name with a tab between.
//
//go:embed names.tsv.zst
var compressedNames []byte

// Names returns the names of the product taxonomy's categories, without their ancestors, by language and id. A language
// is a code of ISO 639-1, such as "de". The names are those of the edition of 2015-02-19, which lacks the categories
// that were added later. The maps are shared and must not be modified.
var Names = sync.OnceValue(func() map[string]map[string]string {
	text, err := decompress(compressedNames)
	if err != nil {
		panic(err) // the file is part of the program and tested
	}
	all := make(map[string]map[string]string)
	var names map[string]string
	for line := range strings.Lines(text) {
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

func decompress(data []byte) (string, error) {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1))
	if err != nil {
		return "", err
	}
	defer d.Close()
	text, err := d.DecodeAll(data, nil)
	return string(text), err
}
