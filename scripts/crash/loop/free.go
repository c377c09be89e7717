package loop

import (
	"bytes"
	"context"
	"fmt"
	"hash/fnv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/pipeline/runfiles"
	"github.com/bulkcat/bulkcat/scripts/process"
)

// categories are the categories of things, in the same order.
var categories = []string{
	"Apparel & Accessories > Shoes", "Home & Garden > Kitchen & Dining > Kitchen Appliances", "Home & Garden > Lawn & Garden > Watering & Irrigation > Garden Hoses",
	"Home & Garden > Lighting > Lamps", "Home & Garden > Linens & Bedding > Bedding > Blankets", "Sporting Goods > Outdoor Recreation > Cycling", "Electronics > Electronics Accessories > Cables",
}

// categoryOf returns the category of a title. doubtful reports whether its trait makes the category doubtful.
func categoryOf(title string) (category string, doubtful bool) {
	i := slices.IndexFunc(things, func(thing string) bool { return strings.Contains(title, thing) })
	return categories[max(0, i)], strings.Contains(title, "refurbished") || strings.Contains(title, "for children")
}

// isOdd reports true for half of the titles.
func isOdd(title string) bool {
	h := fnv.New32a()
	h.Write([]byte(title)) // never fails
	return h.Sum32()>>8%2 == 1
}

// learn makes a model with bulkcat learn. The model is sure about all titles, but less sure about doubtful titles. So the audit of
// the first step fails, and the run then asks for the doubtful titles.
func (l *loop) learn(ctx context.Context) error {
	var labelled bytes.Buffer
	labelled.WriteString("title,label\n")
	for i := range 1200 {
		title := fmt.Sprintf("%s %s, %s, no. %d", makers[i%len(makers)], things[i%len(things)], traits[i/len(things)%len(traits)], 1_000_000+i)
		label, doubtful := categoryOf(title)
		if doubtful && isOdd(title) {
			label = "Furniture"
		}
		fmt.Fprintf(&labelled, "%s,%s\n", quoted(title), label)
	}
	if err := os.WriteFile(filepath.Join(l.Dir, "labelled.csv"), labelled.Bytes(), 0o666); err != nil {
		return err
	}
	args := []string{"learn", "labelled.csv", "--input-column", "title", "--label-column", "label", "-o", modelName}
	p, err := process.Start(ctx, process.Bulkcat(l.Bulkcat, l.Dir, "", "", args...), filepath.Join(l.Dir, "learn.log"))
	if err != nil {
		return err
	}
	return p.Complete()
}

// modelName is the file of the model in the folder of the loop.
const modelName = "vendor.model"

// appendCategory appends the answer of a service that disagrees with the model only about half of the doubtful titles.
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
	account, err := runfiles.ReadAccount(ctx, runfiles.AccountPath(filepath.Join(dir, folder)+"/"))
	if err != nil || account == nil || account.Free == nil {
		return fmt.Errorf("there is no audit in the account: %w", err)
	}
	parts, err := filepath.Glob(filepath.Join(dir, folder, "part-*"))
	if err != nil {
		return err
	}
	free, agreed := 0, 0
	for _, part := range parts {
		rows, err := process.Rows(part)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if row["source"] != account.Free.Source || row["rank"] != "1" {
				continue
			}
			free++
			answer := appendCategory(nil, client.ProductTaxonomy, row["input"])
			if bytes.Contains(answer, []byte(strconv.Quote(row["value"]))) {
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
