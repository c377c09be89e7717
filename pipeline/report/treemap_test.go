package report

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

// overlap is the area that two boxes share.
func overlap(a, b box) float64 {
	width := min(a.X+a.Width, b.X+b.Width) - max(a.X, b.X)
	height := min(a.Y+a.Height, b.Y+b.Height) - max(a.Y, b.Y)
	return max(0, width) * max(0, height)
}

func outside(b, frame box) bool {
	const close = 1e-6
	return b.X < frame.X-close || b.Y < frame.Y-close || b.X+b.Width > frame.X+frame.Width+close || b.Y+b.Height > frame.Y+frame.Height+close
}

// TestSquarify wants boxes in proportion to their values, in the frame, without overlap.
func TestSquarify(t *testing.T) {
	many := make([]float64, 300)
	for i := range many {
		many[i] = math.Ceil(1e6 / float64(i+1))
	}
	for name, tt := range map[string]struct {
		values []float64
		frame  box
		ratio  float64 // the worst of the sides
	}{
		"none":     {nil, box{0, 0, 600, 400}, 1},
		"one":      {[]float64{7}, box{0, 0, 600, 400}, 1.5},
		"paper":    {[]float64{6, 6, 4, 3, 2, 2, 1}, box{0, 0, 6, 4}, 3}, // the example of the authors
		"equal":    {[]float64{1, 1, 1, 1}, box{10, 20, 100, 100}, 1},
		"upright":  {[]float64{5, 3, 1}, box{0, 0, 36, 48}, 3},
		"dominant": {[]float64{1e9, 1, 1}, box{0, 0, 1000, 440}, math.Inf(1)},
		"many":     {many, box{5, 5, 360, 480}, 4},
	} {
		boxes, sum := squarify(tt.values, tt.frame), 0.0
		for _, v := range tt.values {
			sum += v
		}
		if len(boxes) != len(tt.values) {
			t.Fatalf("%s: %d boxes, want %d", name, len(boxes), len(tt.values))
		}
		for i, b := range boxes {
			if want := tt.values[i] / sum * tt.frame.Width * tt.frame.Height; math.Abs(b.Width*b.Height-want) > 1e-6*want+1e-9 {
				t.Errorf("%s: box %d has the area %v, want %v", name, i, b.Width*b.Height, want)
			}
			if outside(b, tt.frame) {
				t.Errorf("%s: box %+v is outside of %+v", name, b, tt.frame)
			}
			if r := max(b.Width/b.Height, b.Height/b.Width); r > tt.ratio*(1+1e-9) {
				t.Errorf("%s: box %+v has sides of %.1f to 1", name, b, r)
			}
			for _, other := range boxes[:i] {
				if overlap(b, other) > 1e-6 {
					t.Errorf("%s: %+v and %+v overlap", name, b, other)
				}
			}
		}
	}
}

// TestTreemap wants the tiles of level 2 within those of level 1, whose areas are in proportion, and texts that fit.
func TestTreemap(t *testing.T) {
	category := func(name string, records int64, children ...Category) Category {
		return Category{Name: name, Path: name, Records: records, Share: float64(records) / 1000, Children: children}
	}
	var small []Category
	for i := range 50 {
		small = append(small, category(fmt.Sprint("small ", i), 1))
	}
	m := newTreemap(append([]Category{
		category("Sports and many other things with a long name", 600, category("Tennis", 300), category("Football", 200)), // 100 have no level 2
		category("Arts", 300, category("Music", 299)), category("Pets", 50), category(hostile, 0),
	}, small...), 360, 480)
	var top []tile
	for _, tile := range m.Tiles {
		if tile.Top {
			top = append(top, tile)
		} else if parent := top[len(top)-1]; outside(tile.box, parent.box) {
			t.Errorf("%s is not within %s", tile.Name, parent.Name)
		}
		for _, line := range tile.Lines {
			if widthOf(line) > tile.Width {
				t.Errorf("%q does not fit into %+v", line, tile.box)
			}
		}
	}
	if area := top[0].Width * top[0].Height; math.Abs(area-0.6*360*480) > 1 || !strings.Contains(top[0].Name, ": 600 records (60.0%)") {
		t.Errorf("the first tile is %+v", top[0])
	}
	names := ""
	for _, tile := range m.Tiles {
		names += tile.Name + "; "
	}
	if !strings.Contains(names, "others: 100 records (10.0%)") || !strings.Contains(names, "others: 50 records (5.0%)") && !strings.Contains(names, "small 49") {
		t.Errorf("records are missing: %s", names)
	}
	if newTreemap([]Category{category("a", 0)}, 100, 100) != nil {
		t.Error("a treemap without records")
	}
}
