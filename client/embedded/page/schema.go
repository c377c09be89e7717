package page

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// The limits on what a page says in the words of schema.org.
const (
	maxName     = 256       // bytes of a name
	maxTypes    = 8         // a count
	maxCrumbs   = 12        // a count
	maxJSON     = 256 << 10 // bytes of JSON-LD in all, which is parsed in memory
	maxJSONDeep = 6         // objects within objects, as far as they are looked into
)

// A schema collects what a page says in the words of schema.org: as JSON-LD, in
// scripts, and as microdata, in attributes of the elements that visitors see.
// The zero value is ready.
type schema struct {
	found      Page // the parts named in fill
	jsonCrumbs bool // the breadcrumb came as JSON-LD, which is whole and in order
	json       int  // bytes of JSON-LD seen

	// Microdata nests; without a tree the type said last has to do.
	scope   string
	inCrumb bool
	prop    folder
	field   string    // the property whose text is being collected; "" is none
	tag     atom.Atom // the element it stands in
}

func (s *schema) reset() {
	s.prop.reset(maxName)
	*s = schema{prop: s.prop}
}

// fill adds to a Page what was found, where its other parts do not say it.
func (s *schema) fill(p *Page) {
	for _, t := range s.found.Types {
		p.Types = appendOnce(p.Types, t, maxTypes)
	}
	p.Product, p.Category, p.Breadcrumb = s.found.Product, s.found.Category, s.found.Breadcrumb
	if p.SiteName == "" {
		p.SiteName = s.found.SiteName
	}
	if p.Section == "" {
		p.Section = s.found.Section
	}
}

// readJSON reads the objects of one script. What is between them (brackets,
// commas, comments meant for old browsers) does not matter; what follows a
// broken one is lost.
func (s *schema) readJSON(text []byte) {
	if s.json += len(text); s.json > maxJSON {
		return
	}
	// Line breaks within strings are a common mistake, and are none elsewhere.
	for i, c := range text {
		if c < ' ' {
			text[i] = ' '
		}
	}
	for {
		start := bytes.IndexByte(text, '{')
		if start < 0 {
			return
		}
		var object map[string]any
		decoder := json.NewDecoder(bytes.NewReader(text[start:]))
		if decoder.Decode(&object) != nil {
			return
		}
		s.object(object, 0)
		text = text[start+int(decoder.InputOffset()):]
	}
}

// subjects are the members that lead to what a page is about, in the order they
// are looked at. Others lead to what it merely mentions: reviews, offers, other
// products.
var subjects = []string{"@graph", "mainEntity", "mainEntityOfPage", "breadcrumb", "about", "hasVariant"}

// object reads one JSON-LD object and those it holds.
func (s *schema) object(object map[string]any, depth int) {
	for t := range each(object["@type"]) {
		if name, ok := t.(string); ok {
			s.typed(typeName(name), object)
		}
	}
	if depth == maxJSONDeep {
		return
	}
	for _, member := range subjects {
		for value := range each(object[member]) {
			if inner, ok := value.(map[string]any); ok {
				s.object(inner, depth+1)
			}
		}
	}
}

// typed reads an object as one of its types.
func (s *schema) typed(name string, object map[string]any) {
	s.found.addType(name)
	switch {
	case name == "Product" || name == "ProductGroup":
		if s.found.Product == "" {
			s.found.Product, s.found.Category = nameOf(object["name"]), nameOf(object["category"])
		}
	case name == "BreadcrumbList":
		s.crumbs(object["itemListElement"])
	case strings.HasSuffix(name, "Article"):
		if s.found.Section == "" {
			s.found.Section = nameOf(object["articleSection"])
		}
	case s.found.SiteName == "" && (name == "WebSite" || strings.HasSuffix(name, "Organization") || strings.HasSuffix(name, "Business")):
		s.found.SiteName = nameOf(object["name"])
	}
}

// crumbs reads the items of a BreadcrumbList, the first one of the page.
func (s *schema) crumbs(list any) {
	if s.jsonCrumbs {
		return
	}
	type crumb struct {
		position float64
		name     string
	}
	var all []crumb
	for element := range each(list) {
		item, ok := element.(map[string]any)
		if !ok || len(all) == maxCrumbs {
			continue
		}
		name := nameOf(item["name"])
		if name == "" {
			name = nameOf(item["item"])
		}
		position, _ := item["position"].(float64)
		all = append(all, crumb{position, name})
	}
	slices.SortStableFunc(all, func(a, b crumb) int { return int(min(max(a.position-b.position, -1), 1)) })
	s.found.Breadcrumb, s.jsonCrumbs = nil, true
	for _, c := range all {
		s.addCrumb(c.name)
	}
}

func (s *schema) addCrumb(name string) {
	if name != "" && !isHome(name) && !strings.Contains(name, "://") && len(s.found.Breadcrumb) < maxCrumbs {
		s.found.Breadcrumb = append(s.found.Breadcrumb, name)
	}
}

// homes are what breadcrumbs call the page they start from.
var homes = []string{"home", "homepage", "home page", "start", "startseite", "accueil", "inicio", "início", "hem", "hjem", "forside", "etusivu", "strona główna", "главная", "ホーム", "トップ", "首页"}

func isHome(name string) bool { return slices.Contains(homes, strings.ToLower(name)) }

// each yields the elements of an array, and any other value as itself.
func each(value any) func(yield func(any) bool) {
	return func(yield func(any) bool) {
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, element := range list {
			if !yield(element) {
				return
			}
		}
	}
}

// nameOf returns a text, the name of an object, or that of the first element of
// an array.
func nameOf(value any) string {
	for range 3 { // an array of objects that hold a name
		switch v := value.(type) {
		case string:
			return fold([]byte(html.UnescapeString(v)), maxName)
		case map[string]any:
			value = v["name"]
		case []any:
			if len(v) == 0 {
				return ""
			}
			value = v[0]
		}
	}
	return ""
}

// start looks for microdata in a start tag.
func (s *schema) start(tag atom.Atom, a *attributes) {
	if a.itemtype != nil && bytes.Contains(a.itemtype, []byte("schema.org/")) {
		s.scope = typeName(string(a.itemtype[:min(len(a.itemtype), maxName)]))
		s.found.addType(s.scope)
		if s.scope != "ListItem" {
			s.inCrumb = s.scope == "BreadcrumbList"
		}
	}
	if a.itemprop == nil || s.field != "" {
		return
	}
	field := string(bytes.ToLower(a.itemprop[:min(len(a.itemprop), maxName)]))
	if wanted := s.scope == "Product" && (field == "name" || field == "category") || s.inCrumb && field == "name"; !wanted {
		return
	}
	s.prop.reset(maxName)
	s.field, s.tag = field, tag
	if a.content != nil || tag == atom.Meta {
		s.prop.write(a.content)
		s.end(tag)
	}
}

// chars collects the text of the property that start has found.
func (s *schema) chars(text []byte) {
	if s.field != "" {
		s.prop.write(text)
	}
}

// end takes the property whose element ends.
func (s *schema) end(tag atom.Atom) {
	if s.field == "" || tag != s.tag {
		return
	}
	switch value := s.prop.String(); {
	case s.inCrumb && !s.jsonCrumbs:
		s.addCrumb(value)
	case s.inCrumb:
	case s.field == "name" && s.found.Product == "":
		s.found.Product = value
	case s.field == "category" && s.found.Category == "":
		s.found.Category = value
	}
	s.field = ""
}

// typeName returns the name of a type without its vocabulary, which is written
// as a URL or a prefix.
func typeName(name string) string {
	name = strings.TrimRight(strings.TrimSpace(name), "/")
	return name[strings.LastIndexAny(name, "/#:")+1:]
}

// anyType lists the types, in lower case, that pages about anything have.
var anyType = func() map[string]bool {
	types := map[string]bool{}
	for _, t := range strings.Fields(`aboutpage aggregateoffer aggregaterating answer article blogposting brand
		breadcrumblist collectionpage contactpage contactpoint corporation country entrypoint faqpage
		geocoordinates imagegallery imageobject individualproduct itemlist itempage listitem localbusiness
		newsarticle object offer offercatalog openinghoursspecification organization page person place
		postaladdress product productgroup profile profilepage propertyvalue question quantitativevalue
		rating readaction reportagenewsarticle review searchaction service sitenavigationelement
		speakablespecification techarticle thing unitpricespecification videoobject webpage webpageelement
		website wpfooter wpheader wpsidebar`) {
		types[t] = true
	}
	return types
}()

// addType adds a type in words, unless pages about anything have it.
func (p *Page) addType(name string) {
	name = typeName(name) // og:type has prefixes of its own
	if len(name) > 64 || anyType[strings.ToLower(name)] {
		return
	}
	if words := fold([]byte(splitCamel(name)), maxName); words != "" {
		p.Types = appendOnce(p.Types, words, maxTypes)
	}
}

// splitCamel parts the words of "AutoRepair", "HVACBusiness" and
// "restaurant.menu_item".
func splitCamel(name string) string {
	runes := []rune(name)
	var b strings.Builder
	for i, r := range runes {
		last := i == len(runes)-1
		if i > 0 && unicode.IsUpper(r) && (!unicode.IsUpper(runes[i-1]) || !last && unicode.IsLower(runes[i+1])) {
			b.WriteByte(' ')
		}
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			r = ' '
		}
		b.WriteRune(r)
	}
	return b.String()
}

func appendOnce(list []string, text string, most int) []string {
	if len(list) >= most || slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}
