package loop

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
)

var (
	makers = []string{"Acme", "Borealis", "Corvus", "Dörfler", "Étoile", "Falke"}
	things = []string{"Running Shoes", "Espresso Machine", "Garden Hose", "Desk Lamp", "Wool Blanket", "Bicycle Helmet", "USB Cable"}
	traits = []string{"red", "blue, matte", "10\"", "2-pack", "for children", "refurbished"}
)

// makeInput returns a CSV of n records: product titles, a tenth of them repeated, and some
// invalid rows.
func makeInput(n int, seed uint64) []byte {
	random := rand.New(rand.NewPCG(seed, 0))
	var (
		csv    bytes.Buffer
		titles []string
	)
	csv.WriteString("id,title,price\n")
	for id := 1; id <= n; id++ {
		price := random.IntN(10_000)
		switch x := random.IntN(100); {
		case x < 2:
			fmt.Fprintf(&csv, "%d,,%d\n", id, price) // no title
			continue
		case x < 4:
			fmt.Fprintf(&csv, "%d,one,field,too,many\n", id)
			continue
		case x < 14 && len(titles) > 0:
			writeRecord(&csv, id, titles[random.IntN(len(titles))], price)
			continue
		}
		titles = append(titles, makeTitle(random, id))
		writeRecord(&csv, id, titles[len(titles)-1], price)
	}
	return csv.Bytes()
}

func makeTitle(random *rand.Rand, id int) string {
	pick := func(words []string) string { return words[random.IntN(len(words))] }
	return fmt.Sprintf("%s %s, %s, no. %d", pick(makers), pick(things), pick(traits), id)
}

func writeRecord(csv *bytes.Buffer, id int, title string, price int) {
	fmt.Fprintf(csv, "%d,%s,%d.%02d\n", id, quoted(title), price/100, price%100)
}

// quoted is a title as a field of CSV.
func quoted(title string) string { return `"` + strings.ReplaceAll(title, `"`, `""`) + `"` }
