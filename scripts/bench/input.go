package main

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

// input describes an input file of records of one kind. Some records repeat earlier records.
type input struct {
	kind       client.Kind
	records    int
	duplicates int // percent
}

// write writes the file to a folder, unless it exists, and returns its path.
func (in input) write(dir string) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%s-%d-%d.csv", in.kind, in.records, in.duplicates))
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return path, nil
	}
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	out := bufio.NewWriterSize(file, 1<<20)
	if in.kind == client.Product {
		fmt.Fprintln(out, "sku,title,price")
	} else {
		fmt.Fprintln(out, "id,url,country")
	}
	for number := range in.numbers() {
		if in.kind == client.Product {
			fmt.Fprintf(out, "S-%08d,\"%s\",%d.%02d\n", number, title(number), number%500, number%100)
		} else {
			fmt.Fprintf(out, "%d,%s,%s\n", number, website(number), pick(countries, number))
		}
	}
	return path, out.Flush()
}

// numbers yields for each record the number of its website or title. New numbers count up from 0;
// a duplicate has the number of any earlier record.
func (in input) numbers() iter.Seq[int] {
	return func(yield func(int) bool) {
		fresh := 0
		for record := range in.records {
			number := fresh
			if duplicate := in.duplicates > 0 && record%100 >= 100-in.duplicates; duplicate {
				number = int(scatter(record) % uint64(fresh))
			} else {
				fresh++
			}
			if !yield(number) {
				return
			}
		}
	}
}

var (
	countries = []string{"DE", "FR", "US", "GB", "IN", "BR", ""}
	trades    = []string{"bakery", "garage", "dental", "travel", "music", "garden", "law", "fitness", "wine", "solar", "kids", "news"}
	locations = []string{"north", "river", "city", "alpine", "coastal", "old-town", "harbour", "hill", "green", "first", "united"}
	brands    = []string{"Northwind", "Acme", "Borealis", "Corvus", "Dörfler", "Étoile", "Falke", "Grünwald", "Halcyon"}
	traits    = []string{"black", "red, matte", "stainless steel", "2-pack", "for children", "refurbished", "size L", "waterproof"}
)

// website returns the normalized URL with a number.
func website(number int) string {
	return fmt.Sprintf("https://%s-%s-%d.example", pick(locations, number), pick(trades, number/7), number)
}

// title returns the product title with a number: a category's name with a brand and features.
func title(number int) string {
	categories := taxonomy.Products().Categories
	category := categories[scatter(number)%uint64(len(categories))]
	return fmt.Sprintf("%s %s, %s (%d)", pick(brands, number), category.Name, pick(traits, number/5), number)
}

func pick(words []string, number int) string { return words[number%len(words)] }

// scatter spreads numbers over all of 64 bits: the finalizer of SplitMix64.
func scatter(number int) uint64 {
	x := uint64(number) + 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
