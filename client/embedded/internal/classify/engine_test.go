package classify

import (
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bulkcat/bulkcat/client/embedded/taxonomy"
)

var engines = sync.OnceValue(func() map[string]*Engine {
	return map[string]*Engine{
		"products": New(taxonomy.Products()),
		"iab":      New(taxonomy.IAB()),
		"naics":    New(taxonomy.NAICS()),
	}
})

// best is the path of the first match, "" if there is none.
func best(e *Engine, matches []Match) string {
	if len(matches) == 0 {
		return ""
	}
	return e.Taxonomy().Categories[matches[0].Category].Path
}

func (e *Engine) matchTitle(title string) []Match {
	return e.Matches(Input{Title: []Field{{Text: title}}}, 3)
}

func (e *Engine) matchWebsite(host string, path []string, page []Field, limit int) []Match {
	return e.Matches(Input{Host: host, Path: path, Page: page}, limit)
}

func TestTitle(t *testing.T) {
	tests := []struct{ title, want string }{
		{"Apple iPhone 15 Pro 256GB smartphone", "Electronics > Communications > Telephony > Mobile Phones"},
		{"Leather phone case for iPhone 14", "Electronics > Communications > Telephony > Mobile Phone Accessories > Mobile Phone Cases"},
		{"Samsung 55 inch 4K Smart TV", "Electronics > Video > Televisions"},
		{"Wireless Bluetooth headphones with microphone", "Electronics > Audio > Audio Components > Headphones & Headsets > Headphones"},
		{"USB-C to HDMI cable", "Electronics > Electronics Accessories > Cables"},
		{"HP LaserJet toner cartridge", "Electronics > Print, Copy, Scan & Fax > Printer, Copier & Fax Machine Accessories > Printer Consumables > Toner & Inkjet Cartridges"},
		{"Women's floral summer dress", "Apparel & Accessories > Clothing > Dresses"},
		{"Men's slim fit blue jeans", "Apparel & Accessories > Clothing > Pants"},
		{"Cotton T-Shirt (black, XL)", "Apparel & Accessories > Clothing > Shirts & Tops"},
		{"Nike Air Zoom running shoes", "Apparel & Accessories > Shoes"},
		{"14k gold hoop earrings", "Apparel & Accessories > Jewelry > Earrings"},
		{"Dog collar with name tag", "Animals & Pet Supplies > Pet Supplies > Pet Collars & Harnesses"},
		{"Cat litter 10kg", "Animals & Pet Supplies > Pet Supplies > Cat Supplies > Cat Litter"},
		{"Stainless steel water bottle, 750 ml", "Home & Garden > Kitchen & Dining > Food & Beverage Carriers > Water Bottles"},
		{"Lawn mower blade", "Home & Garden > Lawn & Garden > Outdoor Power Equipment Accessories > Lawn Mower Accessories > Lawn Mower Blades"},
		{"Queen size memory foam mattress", "Furniture > Beds & Accessories > Mattresses"},
		{"Office chair with lumbar support", "Furniture > Office Furniture > Office Chairs"},
		{"Cordless drill 18V with 2 batteries", "Hardware > Tools > Drills"},
		{"Acoustic guitar strings", "Arts & Entertainment > Hobbies & Creative Arts > Musical Instrument & Orchestra Accessories > String Instrument Accessories > Guitar Accessories > Guitar Strings"},
		{"Organic green tea bags, 100 count", "Food, Beverages & Tobacco > Beverages > Tea & Infusions"},
		{"Matte lipstick", "Health & Beauty > Personal Care > Cosmetics > Makeup > Lip Makeup > Lipstick"},
		{"Jigsaw puzzle 1000 pieces", "Toys & Games > Puzzles > Jigsaw Puzzles"},
		{"Harry Potter paperback book", "Media > Books > Print Books"},
		{"Baby stroller", "Baby & Toddler > Baby Transport > Baby Strollers"},
		{"Kids' bicycle helmet", "Sporting Goods > Outdoor Recreation > Cycling > Cycling Apparel & Accessories > Bicycle Helmets"},
		{"Key chain", "Apparel & Accessories > Handbag & Wallet Accessories > Keychains"},
		// a brand that names another product, and sellers' words
		{"Furniture of Arden - LARK desk lamp", "Home & Garden > Lighting > Lamps"},
		{"Buy blue doormat online, pack of 2", "Home & Garden > Decor > Door Mats"},
		// one word for two
		{"Bedsheets, king size", "Home & Garden > Linens & Bedding > Bedding > Bed Sheets"},
		// what a product is for, in other languages
		{"Sofa con lámpara", "Furniture > Sofas"},
		{"Lampe pour sofa", "Furniture > Sofas"},
		{"Sofa für Wohnung mit Teppich", "Furniture > Sofas"},
		{"Sofa with fur pillow", "Furniture > Sofas"},
		// nothing fits
		{"zzzz qqqq", ""},
		{"", ""},
		{"12345 - 67", ""},
		{"the of and for", ""},
		{"\xff\xfe\x00", ""},
	}
	e := engines()["products"]
	for _, tt := range tests {
		matches := e.matchTitle(tt.title)
		if got := best(e, matches); got != tt.want {
			t.Errorf("%q: got %q, want %q", tt.title, got, tt.want)
		}
		checkMatches(t, e, matches, 3)
	}
}

// classifyDocument returns at most limit categories of a text, the best first.
func (e *Engine) classifyDocument(fields []Field, limit int) []Match {
	s := e.borrow()
	defer e.giveBack(s)
	e.readFields(s, fields)
	e.saturate(s)
	e.sumPhrases(s)
	e.rankSums(s, inherited)
	return e.candidates(s, limit, e.document, LeastConfidence)
}

func TestDocument(t *testing.T) {
	tests := []struct{ engine, title, body, want string }{
		{"iab", "Grand Palm Hotel", "Book a room at our beach resort. Pool, spa and breakfast included, ten minutes from the airport.", "Travel > Travel Type > Hotels and Motels"},
		{"iab", "The Daily Striker", "Premier League fixtures, transfer rumours and match reports for every soccer club.", "Sports > Soccer"},
		{"iab", "Miller & Partners", "Our attorneys represent you in court. Personal injury, divorce and criminal defense lawyers.", "Law"},
		{"iab", "Simple Suppers", "Easy recipes for weeknight dinners: pasta, soup, chicken casserole and more from our kitchen.", "Food & Drink > Cooking"},
		{"iab", "Lens & Light", "Wedding and portrait photography. See the photographer's portfolio.", "Hobbies & Interests > Arts and Crafts > Photography"},
		{"iab", "Stars Today", "Your daily horoscope: zodiac signs, tarot and birth charts.", "Religion & Spirituality > Astrology"},
		{"iab", "Flowchat", "Free chat rooms to meet people and make friends online.", "Technology & Computing > Computing > Internet > Social Networking"},
		{"naics", "First Valley Bancorp", "The holding company of First Valley Bank, which takes deposits and makes commercial loans through 12 branches.", "522110"},
		{"naics", "Onkora Therapeutics", "A clinical-stage biopharmaceutical company developing drug candidates for the treatment of cancer.", "325412"},
		{"naics", "Red Butte Resources", "The company explores for gold and silver on its mineral claims in Nevada.", "212220"},
		{"naics", "Quickfix", "We repair leaking pipes, install water heaters and unclog drains. Plumbing contractors since 1982.", "238220"},
		{"naics", "Pixelforge", "We write custom software and mobile applications for small businesses.", "541511"},
		{"products", "Acme Store", "This acoustic guitar has a spruce top. The guitar comes with a bag and spare strings.", "Arts & Entertainment > Hobbies & Creative Arts > Musical Instruments > String Instruments > Guitars"},
		// nothing fits
		{"iab", "", "zzzz qqqq", ""},
		{"naics", "", "", ""},
	}
	for _, tt := range tests {
		e := engines()[tt.engine]
		matches := e.classifyDocument([]Field{{Text: tt.title, Weight: 3}, {Text: tt.body, Weight: 1}}, 5)
		if got := best(e, matches); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.title, got, tt.want)
		}
		checkMatches(t, e, matches, 5)
	}
}

// A subject comes before sensitive topics, shopping and events that fit as well, and after those that fit much better.
func TestAsides(t *testing.T) {
	for _, top := range []string{"Sensitive Topics", "Shopping", "Events", "Boats"} {
		e := small(t, top+": dinghy, oar, sail\nFashion: dinghy\n")
		for text, isAside := range map[string]bool{"a dinghy": top == "Boats", "a dinghy with an oar and a sail": true} {
			want := "Fashion"
			if isAside {
				want = top
			}
			if got := best(e, e.Candidates(Input{Page: []Field{{Text: text, Weight: 1}}})); got != want {
				t.Errorf("%s, %q: got %q, want %q", top, text, got, want)
			}
		}
	}
}

// The excepted words of a name are in no phrase of the category, but in the context of its
// descendants.
func TestExceptedWords(t *testing.T) {
	c := readCustom(t, "path\nShoes (except boots)\nShoes (except boots) > Sandals\nHats")
	e := New(&c.Taxonomy)
	for _, title := range []string{"sandals", "boots and sandals"} {
		matches := e.matchTitle(title)
		if got := best(e, matches); got != "Shoes (except boots) > Sandals" {
			t.Errorf("%q: %q", title, got)
		}
		for _, m := range matches {
			if !(m.Confidence > 0 && m.Confidence <= 1) {
				t.Errorf("%q: a confidence of %v", title, m.Confidence)
			}
		}
	}
}

func TestWebsite(t *testing.T) {
	page := []Field{{Text: "Grand Palm Hotel", Weight: 3}, {Text: "Book a room at our beach resort.", Weight: 1}}
	tests := []struct {
		name, engine, host string
		path               []string
		page               []Field
		want               string
	}{
		{"a name", "iab", "www.cheap-hotels.example", nil, nil, "Travel > Travel Type > Hotels and Motels"},
		{"a name in one word", "iab", "bestcarparts.co.uk", nil, nil, "Automotive > Auto Parts"},
		{"a path", "iab", "xyzzyq.example", []string{"soccer", "news"}, nil, "Sports > Soccer"},
		{"a page under a name that says nothing", "iab", "xyzzyq.example", nil, page, "Travel > Travel Type > Hotels and Motels"},
		{"a page against its name", "iab", "soccer.example", nil, append(page, page...), "Travel > Travel Type > Hotels and Motels"},
		{"a page without text", "iab", "soccer.example", nil, []Field{{Text: "", Weight: 3}, {Text: "- -", Weight: 1}}, "Sports > Soccer"},
		{"a top-level domain", "iab", "xyzzyq.edu", nil, nil, "Education > College Education"},
		{"a company's name", "naics", "northmoor-dentist.example", nil, nil, "621210"},
		{"nothing", "iab", "xyzzyq.example", nil, nil, ""},
		{"an address", "iab", "127.0.0.1", nil, nil, ""},
		{"junk in Punycode", "iab", "xn--zzzzzzzzzzz.com", nil, nil, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := engines()[tt.engine]
			matches := e.matchWebsite(tt.host, tt.path, tt.page, 5)
			if got := best(e, matches); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			checkMatches(t, e, matches, 5)
		})
	}
}

// checkMatches checks the promises of all methods that return matches.
func checkMatches(t *testing.T, e *Engine, matches []Match, limit int) {
	t.Helper()
	if len(matches) > limit {
		t.Errorf("%d matches, want at most %d", len(matches), limit)
	}
	seen := make(map[int]bool)
	before := 1.0
	for _, m := range matches {
		if m.Category < 0 || m.Category >= len(e.Taxonomy().Categories) || seen[m.Category] {
			t.Errorf("category %d is unknown or there twice", m.Category)
		}
		if !(m.Confidence > 0 && m.Confidence <= before) {
			t.Errorf("confidence %v after %v", m.Confidence, before)
		}
		seen[m.Category], before = true, m.Confidence
	}
}

func TestDocumentLimits(t *testing.T) {
	e := engines()["iab"]
	text := []Field{{Text: "hotel flight soccer lawyer recipe horoscope", Weight: 1}}
	for _, limit := range []int{-1, 0, 1, 2, 1000} {
		matches := e.classifyDocument(text, limit)
		checkMatches(t, e, matches, max(limit, 0))
		if limit > 0 && len(matches) == 0 {
			t.Errorf("limit %d: no match", limit)
		}
	}
	if got := e.classifyDocument([]Field{{Text: "hotel", Weight: 0}, {Text: "hotel", Weight: -1}}, 5); got != nil {
		t.Errorf("fields without weight: got %v", got)
	}
}

// small is a taxonomy whose scores can be computed by hand.
func small(t *testing.T, outline string) *Engine {
	t.Helper()
	categories, err := taxonomy.Parse("small.txt", outline)
	if err != nil {
		t.Fatal(err)
	}
	return New(&taxonomy.Taxonomy{Name: "small", Categories: categories})
}

func TestTiedSiblings(t *testing.T) {
	filler := "Stones\n\tGranite\n\tMarble\n\tBasalt\n\tSlate\n\tFlint\n\tChalk\n\tQuartz\n"
	tests := []struct{ name, outline, title, want string }{
		{"parent of two that say the same", "Boats\n\tSail: dinghy\n\tRow: dinghy\n" + filler, "a dinghy", "Boats"},
		{"more evidence for one of them", "Boats\n\tSail: dinghy\n\tRow: dinghy, rowing dinghy\n" + filler, "a rowing dinghy", "Boats > Row"},
		{"no common parent", "Sail: dinghy\nRow: dinghy\n" + filler, "a dinghy", "Sail"},
		{"an only child with its parent's name", "11\tWood\n\t111\tLogging\n\t\t1111\tLogging\n12\tCoal\n13\tSalt\n14\tIron\n15\tGold\n", "logging", "1111"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := small(t, tt.outline)
			matches := e.matchTitle(tt.title)
			if got := best(e, matches); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			checkMatches(t, e, matches, 3)
		})
	}
}

// Answers do not depend on earlier or concurrent calls.
func TestConcurrent(t *testing.T) {
	titles := []string{"Leather phone case", "Lawn mower blade", "zzzz", "Office chair with wheels, black", "Dog collar", "Blue jeans"}
	e := New(taxonomy.Products())
	want := make([][]Match, len(titles))
	for i, title := range titles {
		want[i] = engines()["products"].matchTitle(title)
	}
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for n := range 50 {
				i := (worker + n) % len(titles)
				e.classifyDocument([]Field{{Text: titles[n%len(titles)], Weight: 1}}, 5)
				if got := e.matchTitle(titles[i]); !reflect.DeepEqual(got, want[i]) {
					t.Errorf("%q: got %v, want %v", titles[i], got, want[i])
				}
			}
		})
	}
	wg.Wait()
}

func TestLongInput(t *testing.T) {
	for name, text := range map[string]string{
		"words":       strings.Repeat("blue leather phone case, ", 400_000),
		"one word":    strings.Repeat("x", 10<<20),
		"punctuation": strings.Repeat("-", 10<<20),
		"not UTF-8":   strings.Repeat("\xff", 10<<20),
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			for _, e := range engines() {
				e.matchTitle(text)
				e.classifyDocument([]Field{{Text: text, Weight: 1}}, 5)
			}
			// A call takes some 50 ms; reading everything would exceed the bound.
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
}

func TestTitleAllocations(t *testing.T) {
	if raceEnabled {
		t.Skip("the race detector makes sync.Pool drop items")
	}
	e := engines()["products"]
	in := Input{Title: []Field{{Text: "Leather phone case for iPhone 14, brown"}}}
	allocs := testing.AllocsPerRun(200, func() { e.Matches(in, 3) })
	if allocs > 1 {
		t.Errorf("%v allocations a title, want 1: the answer", allocs)
	}
}

func FuzzTitle(f *testing.F) {
	f.Add("Apple iPhone 15 Pro 256GB smartphone")
	f.Add("Set of 4 plates (blue) - for kids, w/ case | key chain")
	f.Add("((( ))) - for for 's t-t-t \xff")
	f.Add("Edelstahl-Bratpfanne mit Deckel, 28 cm")
	f.Add("ワンピース・ドレス ー ノートPC 笔记本电脑 \xff")
	f.Fuzz(func(t *testing.T, title string) {
		for _, e := range []*Engine{engines()["products"], multilingual()} {
			matches := e.matchTitle(title)
			checkMatches(t, e, matches, 3)
			if again := e.matchTitle(title); !reflect.DeepEqual(again, matches) {
				t.Errorf("%q: first %v, then %v", title, matches, again)
			}
		}
	})
}

func FuzzDocument(f *testing.F) {
	f.Add("Grand Palm Hotel", "Book a room at our resort.", 3.0, 5)
	f.Add("", "chat rooms. chat rooms! \xff", 1e300, 1)
	f.Add("bank bank", "holding company", -1.0, -5)
	f.Fuzz(func(t *testing.T, title, body string, weight float64, limit int) {
		fields := []Field{{Text: title, Weight: weight}, {Text: body, Weight: 1}}
		for name, e := range engines() {
			matches := e.classifyDocument(fields, limit)
			checkMatches(t, e, matches, max(limit, 0))
			if again := e.classifyDocument(fields, limit); !reflect.DeepEqual(again, matches) {
				t.Errorf("%s: first %v, then %v", name, matches, again)
			}
		}
	})
}

func BenchmarkNew(b *testing.B) {
	for _, t := range []*taxonomy.Taxonomy{taxonomy.Products(), taxonomy.IAB(), taxonomy.NAICS()} {
		b.Run(t.Name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				New(t)
			}
		})
	}
}

// BenchmarkTitle classifies titles in the style of shops and marketplaces.
func BenchmarkTitle(b *testing.B) {
	e := engines()["products"]
	titles := []string{
		"Cotton T-Shirt (black, XL)",
		"Leather phone case for iPhone 14, brown",
		"Steel office chair with lumbar support and wheels for home and garden accessories",
		"Furniture of Arden - MORLEY 7 Pc. Dining Table Set (FM3425GY-PT-7PC)",
		"Hartwell Women's Solid Casual Reversible Waistcoat - Pack of 2, Buy Online",
		"Juego de sábanas de algodón para cama doble, blanco",
		"Velox 12V Car LED Headlight Bulb Set Of 2 for Universal For Bike and Car",
		"Replacement toner cartridge, compatible with LJ-1020 series printers, black, 2,000 pages",
	}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		e.matchTitle(titles[i%len(titles)])
	}
}

func BenchmarkDocument(b *testing.B) {
	e := engines()["iab"]
	body := strings.Repeat("Book a room at our beach resort. Pool, spa and breakfast included, ten minutes from the airport. ", 40)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		e.classifyDocument([]Field{{Text: "Grand Palm Hotel", Weight: 3}, {Text: body, Weight: 1}}, 5)
	}
}
