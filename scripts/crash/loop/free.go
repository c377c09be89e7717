package loop

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/embedded"
	"github.com/bulkcat/bulkcat/client/embedded/learn"
	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
	"github.com/bulkcat/bulkcat/pipeline/record"
)

// categories are those of things.
var categories = []string{
	"Apparel & Accessories > Shoes", "Home & Garden > Kitchen & Dining > Kitchen Appliances", "Home & Garden > Lawn & Garden > Watering & Irrigation > Garden Hoses",
	"Home & Garden > Lighting > Lamps", "Home & Garden > Linens & Bedding > Bedding > Blankets", "Sporting Goods > Outdoor Recreation > Cycling", "Electronics > Electronics Accessories > Cables",
}

// categoryOf is the category of a title; doubtful reports whether its trait makes that doubtful.
func categoryOf(title string) (category string, doubtful bool) {
	i := slices.IndexFunc(things, func(thing string) bool { return strings.Contains(title, thing) })
	return categories[max(0, i)], strings.Contains(title, "refurbished") || strings.Contains(title, "for children")
}

// isOdd is true of half of the titles.
func isOdd(title string) bool {
	h := fnv.New32a()
	h.Write([]byte(title)) // never fails
	return h.Sum32()>>8%2 == 1
}

// writeModel writes a model that is sure about all titles, but less about doubtful ones. So the audit of its first answers
// fails, and the run asks for the doubtful titles after all.
func writeModel(ctx context.Context, path string) error {
	service := embedded.New(embedded.Options{})
	l := learn.NewLearner(client.Product, &taxonomy.Custom{Taxonomy: *taxonomy.Products()})
	for i := range 1200 {
		title := fmt.Sprintf("%s %s, %s, no. %d", makers[i%len(makers)], things[i%len(things)], traits[i/len(things)%len(traits)], 1_000_000+i)
		features, err := service.Features(ctx, client.Request{Kind: client.Product, Classification: client.ProductTaxonomy, Input: title})
		if err != nil {
			return err
		}
		label, doubtful := categoryOf(title)
		if doubtful && isOdd(title) {
			label = "Furniture"
		}
		l.Add(learn.Row{Line: int64(i), Input: title}, features, label)
	}
	m, _, err := l.Train(ctx)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	if _, err := m.WriteTo(f); err != nil {
		return err
	}
	return f.Close()
}

// appendCategory appends the answer of a service that agrees with the model, but with half of the doubtful titles.
func appendCategory(dst []byte, classification, input string) []byte {
	category, doubtful := categoryOf(input)
	if doubtful && isOdd(input) {
		category = "Furniture > Chairs"
	}
	return append(dst, `{"`+classification+`":[{"value":`+strconv.Quote(category)+`,"confidence":0.5}]}`...)
}

// checkBound compares the free rows of a complete cycle with the answers that the service would give, and with the bound
// in the account. The audit of the first step has failed.
func checkBound(ctx context.Context, dir string) error {
	account, err := record.ReadAccount(ctx, record.AccountPath(filepath.Join(dir, folder)+"/"))
	if err != nil || account == nil || account.Free == nil {
		return fmt.Errorf("there is no audit in the account: %w", err)
	}
	parts, err := filepath.Glob(filepath.Join(dir, folder, "part-*"))
	if err != nil {
		return err
	}
	free, agreed := 0, 0
	for _, part := range parts {
		text, err := os.ReadFile(part)
		if err != nil {
			return err
		}
		rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		if err != nil {
			return err
		}
		place := func(name string) int { return slices.Index(rows[0], name) }
		for _, row := range rows[1:] {
			if row[place("source")] != account.Free.Source || row[place("rank")] != "1" {
				continue
			}
			free++
			answer := appendCategory(nil, client.ProductTaxonomy, row[place("input")])
			if bytes.Contains(answer, []byte(strconv.Quote(row[place("value")]))) {
				agreed++
			}
		}
	}
	a := account.Free
	if int64(free) != account.Counts.Free || free == 0 || a.Step < 2 || a.Missing > 0 || float64(agreed) < a.Bound*float64(free) || a.Bound < a.Precision {
		return fmt.Errorf("the service agrees with %d of %d free rows, of which the account says %d; %+v", agreed, free, account.Counts.Free, *a)
	}
	return nil
}

// modelName is the file of the model in the folder of the loop.
const modelName = "vendor.model"

// modelFor makes the model of a loop that needs one.
func (l *loop) modelFor(ctx context.Context) error {
	if l.Format != Free {
		return nil
	}
	return writeModel(ctx, filepath.Join(l.Dir, modelName))
}
