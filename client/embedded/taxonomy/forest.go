package taxonomy

import "slices"

// forest builds categories from lines in any order.
type forest struct {
	nodes  []node // in the order of their first mention
	roots  []int
	byPath map[string]int
}

type node struct {
	Category     // Parent is the index of a node
	line     int // 0 before its own line was read
	children []int
}

func newForest() forest { return forest{byPath: make(map[string]int)} }

// grow returns the node of a path, and creates it if it does not exist.
func (f *forest) grow(parent, depth int, name, path string) int {
	if i, ok := f.byPath[path]; ok {
		return i
	}
	i := len(f.nodes)
	f.byPath[path] = i
	f.nodes = append(f.nodes, node{Category: Category{Name: name, Path: path, Parent: parent, Depth: depth}})
	if parent < 0 {
		f.roots = append(f.roots, i)
	} else {
		f.nodes[parent].children = append(f.nodes[parent].children, i)
	}
	return i
}

// categories returns the categories in depth-first order, and the index of each node's category.
func (f *forest) categories() (categories []Category, place []int) {
	place = make([]int, len(f.nodes))
	var lay func(nodes []int)
	lay = func(nodes []int) { // recursion of as many levels as the taxonomy has
		for _, i := range nodes {
			c := f.nodes[i].Category
			if c.Parent >= 0 {
				c.Parent = place[c.Parent]
			}
			place[i] = len(categories)
			categories = append(categories, c)
			lay(f.nodes[i].children)
		}
	}
	lay(f.roots)
	return categories, place
}

// union appends the elements of more that are not in list.
func union(list, more []string) []string {
	for _, text := range more {
		if !slices.Contains(list, text) {
			list = append(list, text)
		}
	}
	return list
}
