package reader

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

var dialects = flag.Int("dialects", 300, "number of random dialects of CSV")

// Records that are written in a random dialect are read as they are, or a warning, an invalid row or an error says that they
// are not: never others, or fewer, in silence.
func TestRandomDialects(t *testing.T) {
	outcomes := map[string]int{}
	for seed := range *dialects {
		g := newDialectGenerator(uint64(seed))
		content, want := g.file()
		got, log, err := readDialect(t, g, content)
		outcome := "equal"
		switch {
		case err != nil:
			outcome = "refused"
		case slices.Equal(got, want):
		case log:
			outcome = "others, said"
		default:
			outcome = "others, in silence"
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("seed %d: %s\n%d records, want %d; from record %d on: got %.100q, want %.100q\nfile %.400q", seed, g, len(got), len(want), i+1, got[i:], want[i:], content)
		}
		outcomes[outcome]++
		if testing.Verbose() && outcome != "equal" {
			t.Logf("seed %d: %s: %s: %v", seed, outcome, g, err)
		}
	}
	t.Logf("%d files: %v", *dialects, outcomes)
	if 10*outcomes["equal"] < 8**dialects {
		t.Errorf("only %d of %d files are read as they were written", outcomes["equal"], *dialects)
	}
}

// readDialect returns the inputs of a file, and whether something was said about them.
func readDialect(t *testing.T, g *dialectGenerator, content string) (inputs []string, said bool, err error) {
	t.Helper()
	var log bytes.Buffer
	r, err := Open(t.Context(), Options{
		Paths: []string{writeFile(t, g.name, content)}, Candidates: titles, Dialect: g.stated,
		Log: slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelWarn})),
	})
	if err != nil {
		return nil, true, err
	}
	defer r.Close()
	for {
		record, err := r.Read()
		if err == io.EOF {
			warnings := slices.DeleteFunc(strings.Split(strings.TrimSpace(log.String()), "\n"), func(line string) bool {
				return line == "" || strings.Contains(line, "fewer fields") || strings.Contains(line, "not UTF-8") // which are true, and explain no other record
			})
			return inputs, said || len(warnings) > 0, nil
		}
		if err != nil {
			return nil, true, err
		}
		said = said || record.Err != nil
		inputs = append(inputs, record.Input)
	}
}

// dialectGenerator writes a table in a dialect.
type dialectGenerator struct {
	*rand.Rand
	name      string
	delimiter string
	quote     string // "" for none
	escape    string // before a quote in a quoted field; "" for a second quote
	always    bool   // all fields are quoted
	comment   string // of lines between the rows; "" for none
	above     int    // rows above the header
	lineEnd   string
	encoding  string
	blank     bool // blank lines stand between the rows
	short     bool // empty fields at the end of a row are left out
	noEnd     bool // the last line has no end
	columns   int
	rows      int
	stated    Dialect // what the content cannot show
}

func newDialectGenerator(seed uint64) *dialectGenerator {
	g := &dialectGenerator{Rand: rand.New(rand.NewPCG(seed, 54))}
	g.delimiter = g.of(",", ",", ";", "\t", "|")
	g.quote = g.of(`"`, `"`, `"`, "'", "")
	if g.quote != "" && g.chance(4) {
		g.escape = `\`
	}
	g.always = g.quote != "" && g.chance(3)
	if g.chance(6) {
		g.comment = g.of("#", "//")
	}
	if g.chance(4) {
		g.above = 1 + g.IntN(4)
	}
	g.lineEnd = g.of("\n", "\n", "\r\n", "\r")
	g.encoding = g.of("utf-8", "utf-8", "utf-8", "utf-8 with mark", "utf-16", "windows-1252")
	g.blank, g.short, g.noEnd = g.chance(4), g.chance(5), g.chance(3)
	g.columns = 1 + g.IntN(5)
	g.rows = 1 + g.IntN(30)
	if g.chance(20) {
		g.rows += 2000
	}
	g.name = g.of("in.csv", "in.csv", "in.txt", "in")
	if g.columns == 1 && g.above > 0 { // in other files all lines are records
		g.name = "in.csv"
	} else if g.delimiter == "\t" {
		g.name = g.of("in.tsv", "in.txt", "in")
	}
	if g.quote == "'" {
		g.stated.Quote = g.quote
	}
	g.stated.Comment = g.comment
	return g
}

func (g *dialectGenerator) String() string {
	return fmt.Sprintf("%s delimiter=%q quote=%q escape=%q always=%t comment=%q above=%d end=%q encoding=%s blank=%t short=%t columns=%d rows=%d",
		g.name, g.delimiter, g.quote, g.escape, g.always, g.comment, g.above, g.lineEnd, g.encoding, g.blank, g.short, g.columns, g.rows)
}

func (g *dialectGenerator) of(list ...string) string { return list[g.IntN(len(list))] }
func (g *dialectGenerator) chance(n int) bool        { return g.IntN(n) == 0 }

// file returns a file and the titles in it.
func (g *dialectGenerator) file() (content string, want []string) {
	names := []string{"id", "title", "brand", "price", "note"}[:max(g.columns, 1)]
	if g.columns == 1 {
		names = []string{"title"}
	}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	title := slices.Index(names, "title")
	var lines []string
	for i := range g.above {
		lines = append(lines, g.of("Report of the shop", "Generated: 2026-01-02", "# exported", "")+strings.Repeat("!", i))
	}
	lines = append(lines, g.row(names))
	for i := range g.rows {
		if g.blank && g.chance(5) {
			lines = append(lines, "")
		}
		if g.comment != "" && g.chance(5) {
			lines = append(lines, g.comment+" a comment, of the writer")
		}
		fields := make([]string, len(names))
		for k, name := range names {
			fields[k] = g.value(name, i)
		}
		want = append(want, fields[title])
		lines = append(lines, g.row(fields))
	}
	content = strings.Join(lines, g.lineEnd)
	if !g.noEnd {
		content += g.lineEnd
	}
	if g.escape != "" && !shownEscape.MatchString(content) {
		g.stated.Escape = g.escape
	}
	return g.encoded(content), want
}

// shownEscape is an escaped quote that is not the end of a field.
var shownEscape = regexp.MustCompile(`[^\\]\\["'][^,;|\t\r\n]`)

// value returns a value of a column that the dialect can write.
func (g *dialectGenerator) value(column string, row int) string {
	var text string
	switch column {
	case "id":
		text = fmt.Sprint(1000 + row)
	case "price":
		text = g.of("9.99", "1,299.00", "", "5")
	case "title":
		text = g.of("Steel dog bowl", "Cat tree", "24\" monitor", "Sofa \"Max\", red", "Café au lait", "Mug; blue | white", "It's a \\ slash", "#1 Dad mug", "Tab\there",
			"Lamp\n60 W", "Pen", "'Quoted' thing", "  blanks  ", "ends with \\", "O'Neill wetsuit", "a, b, c") + g.of("", "", " "+fmt.Sprint(row))
		if g.columns > 1 && g.chance(10) {
			text = ""
		}
	default:
		text = g.of("Acme", "", "a \"b\" c", "x, y; z", "two\nlines", "Straße", "12\"", "5' 3\"")
	}
	if g.quote == "" {
		text = strings.NewReplacer(g.delimiter, " ", "\n", " ").Replace(text)
	}
	if g.quote == "" && strings.HasPrefix(text, `"`) {
		text = "x" + text
	}
	if g.comment != "" && g.quote == "" && strings.HasPrefix(text, g.comment) {
		text = "x" + text
	}
	return text
}

// row writes a row.
func (g *dialectGenerator) row(fields []string) string {
	if g.short {
		for len(fields) > 1 && fields[len(fields)-1] == "" {
			fields = fields[:len(fields)-1]
		}
	}
	var written []string
	for _, field := range fields {
		written = append(written, g.field(field, len(fields) == 1))
	}
	return strings.Join(written, g.delimiter)
}

// field writes a field; a row of a single blank field would be a blank line.
func (g *dialectGenerator) field(text string, single bool) string {
	needsQuotes := strings.Contains(text, g.delimiter) || strings.ContainsAny(text, "\n\r") || strings.HasPrefix(text, g.quote) && text != "" ||
		g.escape != "" && strings.Contains(text, g.escape) || strings.Contains(text, g.quote) ||
		g.comment != "" && strings.HasPrefix(text, g.comment) || text != strings.TrimSpace(text) || single && text == ""
	if g.quote == "" || !needsQuotes && !g.always {
		return text
	}
	if g.escape != "" {
		text = strings.NewReplacer(g.escape, g.escape+g.escape, g.quote, g.escape+g.quote).Replace(text)
	} else {
		text = strings.ReplaceAll(text, g.quote, g.quote+g.quote)
	}
	return g.quote + text + g.quote
}

func (g *dialectGenerator) encoded(text string) string {
	var err error
	switch g.encoding {
	case "utf-8 with mark":
		text = "\ufeff" + text
	case "utf-16":
		text, err = unicode.UTF16(unicode.LittleEndian, unicode.UseBOM).NewEncoder().String(text)
	case "windows-1252":
		text, err = charmap.Windows1252.NewEncoder().String(text)
	}
	if err != nil {
		panic(err)
	}
	return text
}
