package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/bulkcat/bulkcat/pipeline/figures"
)

// treemap shows categories of two levels as rectangles, whose areas are in proportion to their records.
type treemap struct {
	Width, Height int
	Tiles         []tile
	records       int64 // in all tiles
}

// tile is a rectangle of a treemap, with its text.
type tile struct {
	box
	Class string   // CSS class of the color
	Name  string   // the category with its numbers
	Lines []string // text that fits into the tile; the tile clips wider text
	Top   bool     // a tile of level 1, which is a frame around tiles of level 2
}

// box is a rectangle in units of the view box.
type box struct{ X, Y, Width, Height float64 }

// Lengths are in units of the view box, which are about pixels.
const (
	tileColors = 8
	leastArea  = 150.0 // smaller tiles are joined into one tile
	boldness   = 1.15  // how much wider bold letters are
	lineHeight = 16.0
	padding    = 5.0
	head       = 20.0 // the text above the tiles of level 2
)

// newTreemap lays out the categories of the levels 1 and 2. It returns nil if no record has a category.
func newTreemap(categories []Category, width, height int) *treemap {
	m := &treemap{Width: width, Height: height}
	for _, c := range categories {
		m.records += c.Records
	}
	frame := box{0, 0, float64(width), float64(height)}
	list := m.large(categories, m.records, frame)
	for i, b := range squarify(areas(list), frame) {
		m.add(list[i], b, fmt.Sprint("t", i%tileColors))
	}
	if len(m.Tiles) == 0 {
		return nil
	}
	return m
}

// add adds a category of level 1, and the categories below it if there is room for their names.
func (m *treemap) add(c Category, b box, class string) {
	t := newTile(c, b, class, boldness)
	t.Top = true
	if len(c.Children) == 0 || b.Width < 60 || b.Height < 3*head {
		m.Tiles = append(m.Tiles, t)
		return
	}
	if text, room := nameOf(c)+" "+figures.Percent(c.Share), b.Width/boldness-2*padding; widthOf(text) <= room {
		t.Lines = []string{text}
	} else {
		t.Lines = fit(nameOf(c), room)
	}
	m.Tiles = append(m.Tiles, t)
	within := box{b.X + padding, b.Y + head, b.Width - 2*padding, b.Height - head - padding}
	list := m.large(c.Children, c.Records, within)
	for i, b := range squarify(areas(list), within) {
		m.Tiles = append(m.Tiles, newTile(list[i], b, class, 1))
	}
}

// newTile returns a tile whose letters are wider than measured by a factor.
func newTile(c Category, b box, class string, wider float64) tile {
	name, share := nameOf(c), figures.Percent(c.Share)
	t := tile{box: b, Class: class, Name: fmt.Sprintf("%s: %s records (%s)", name, figures.Count(c.Records), share)}
	if c.Title == "" {
		name = figures.Short(c.Name) // without the path
	}
	if b.Height >= lineHeight+padding {
		t.Lines = fit(name, b.Width/wider-2*padding)
	}
	if len(t.Lines) > 0 && b.Height >= 2*lineHeight+padding && widthOf(share) <= b.Width/wider-2*padding {
		t.Lines = append(t.Lines, share)
	}
	return t
}

// widthOf estimates the width of a text. The estimate is rather too large than too small.
func widthOf(text string) (width float64) {
	for _, r := range text {
		switch {
		case strings.ContainsRune("fijlrtI.,:;'|!()[]/ ", r):
			width += 4.5
		case strings.ContainsRune("mwMW@%&…", r), r >= 0x1100: // Korean, Chinese and Japanese
			width += 12
		case unicode.IsUpper(r):
			width += 8.7
		default:
			width += 7
		}
	}
	return width
}

// fit cuts a text to a width. It returns nil if fewer than four characters of a longer text fit.
func fit(text string, width float64) []string {
	runes, n := []rune(text), utf8.RuneCountInString(text)
	for n > 0 && widthOf(string(runes[:n])) > width {
		n--
	}
	if n < min(4, len(runes)) || n < 1 {
		return nil
	}
	return []string{figures.Cut(text, n)}
}

// large returns the categories whose tiles in a frame are not too small, and a category "others" for the rest of the records of.
func (m *treemap) large(list []Category, of int64, frame box) (kept []Category) {
	rest := of
	for _, c := range list {
		if n := float64(c.Records); n > 0 && n*frame.Width*frame.Height >= leastArea*float64(of) {
			kept, rest = append(kept, c), rest-c.Records
		}
	}
	if rest > 0 {
		kept = append(kept, Category{Name: "others", Path: "others", Records: rest, Share: figures.Share(rest, m.records)})
		slices.SortStableFunc(kept, func(a, b Category) int { return cmp.Compare(b.Records, a.Records) })
	}
	return kept
}

func areas(list []Category) (values []float64) {
	for _, c := range list {
		values = append(values, float64(c.Records))
	}
	return values
}

// squarify divides a frame into boxes whose areas are in proportion to values, which descend. It puts the next values into a row
// along the shorter side of the remaining frame, as long as each further value makes the boxes of the row more like squares
// (Bruls, Huizing and van Wijk: Squarified Treemaps, 2000).
func squarify(values []float64, frame box) (boxes []box) {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	for len(values) > 0 {
		scale := frame.Width * frame.Height / sum // units of area for a value
		side := min(frame.Width, frame.Height)
		n, row := 1, values[0]
		for n < len(values) && worst(values[:n+1], row+values[n], side, scale) <= worst(values[:n], row, side, scale) {
			row += values[n]
			n++
		}
		depth, offset := row*scale/side, 0.0
		for _, v := range values[:n] {
			length := side * v / row
			if frame.Width >= frame.Height {
				boxes = append(boxes, box{frame.X, frame.Y + offset, depth, length})
			} else {
				boxes = append(boxes, box{frame.X + offset, frame.Y, length, depth})
			}
			offset += length
		}
		if frame.Width >= frame.Height {
			frame.X, frame.Width = frame.X+depth, frame.Width-depth
		} else {
			frame.Y, frame.Height = frame.Y+depth, frame.Height-depth
		}
		values, sum = values[n:], sum-row
	}
	return boxes
}

// worst returns the largest ratio of the sides of the boxes in a row.
func worst(values []float64, sum, side, scale float64) float64 {
	large, small, area := values[0]*scale, values[len(values)-1]*scale, sum*scale
	return max(side*side*large/(area*area), area*area/(side*side*small))
}
