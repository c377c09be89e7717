package page

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/bulkcat/bulkcat/client/embedded/internal/words"
)

// The limits of the schema.org data of a page.
const (
	maxName     = 256       // bytes of a name
	maxTypes    = 8         // a count
	maxCrumbs   = 12        // a count
	maxJSON     = 256 << 10 // bytes of JSON-LD in all
	maxJSONDeep = 6         // levels of nested objects that are read
)

// A schema collects the schema.org data of a page: JSON-LD in scripts, and microdata in
// attributes of visible elements. The zero value is ready to use.
type schema struct {
	found      Page // the parts named in fill
	jsonCrumbs bool // the breadcrumb is from JSON-LD, which is complete and in order
	json       int  // bytes of JSON-LD seen

	// Microdata is nested, but there is no tree: the last type counts.
	scope   string
	inCrumb bool
	prop    folder
	field   string    // the property whose text is being collected; "" for none
	tag     atom.Atom // the element with the property
}

func (s *schema) reset() {
	s.prop.reset(maxName)
	*s = schema{prop: s.prop}
}

// fill sets the empty parts of a Page from the data.
func (s *schema) fill(p *Page) {
	for _, t := range s.found.Types {
		p.Types = appendOnce(p.Types, t, maxTypes)
	}
	p.Product, p.Category, p.Breadcrumb = s.found.Product, s.found.Category, s.found.Breadcrumb
	p.SiteName = cmp.Or(p.SiteName, s.found.SiteName)
	p.Section = cmp.Or(p.Section, s.found.Section)
}

// readJSON reads the objects of one script. It ignores the text between objects (brackets, commas, comments for old browsers) and
// stops at a malformed object.
func (s *schema) readJSON(text []byte) {
	if s.json += len(text); s.json > maxJSON {
		return
	}
	// Line breaks within strings are a common mistake, and elsewhere they are white space.
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

// subjects are the members with the subject of a page, in the order of reading. Other members hold things that the page only
// mentions: reviews, offers, other products.
var subjects = []string{"@graph", "mainEntity", "mainEntityOfPage", "breadcrumb", "about", "hasVariant"}

// object reads one JSON-LD object, and the objects in its subjects.
func (s *schema) object(object map[string]any, depth int) {
	for _, t := range each(object["@type"]) {
		if name, ok := t.(string); ok {
			s.typed(typeName(name), object)
		}
	}
	if depth == maxJSONDeep {
		return
	}
	for _, member := range subjects {
		for _, value := range each(object[member]) {
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

// crumbs reads the items of the first BreadcrumbList of the page.
func (s *schema) crumbs(list any) {
	if s.jsonCrumbs {
		return
	}
	type crumb struct {
		position float64
		name     string
	}
	var all []crumb
	for _, element := range each(list) {
		item, ok := element.(map[string]any)
		if !ok || len(all) == maxCrumbs {
			continue
		}
		position, _ := item["position"].(float64)
		all = append(all, crumb{position, cmp.Or(nameOf(item["name"]), nameOf(item["item"]))})
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

// homes are the names of the start page in breadcrumbs.
var homes = []string{"home", "homepage", "home page", "start", "startseite", "accueil", "inicio", "início", "hem", "hjem", "forside", "etusivu", "strona główna", "главная", "ホーム", "トップ", "首页"}

func isHome(name string) bool { return slices.Contains(homes, strings.ToLower(name)) }

// each returns the elements of an array, or the value itself if it is no array.
func each(value any) []any {
	if list, ok := value.([]any); ok {
		return list
	}
	return []any{value}
}

// nameOf returns the name in a value: the string itself, the name of an object, or the name of an array's first element.
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

// start reads the microdata of a start tag.
func (s *schema) start(tag atom.Atom, a attributes) {
	if itemType := a["itemtype"]; bytes.Contains(itemType, []byte("schema.org/")) {
		s.scope = typeName(string(itemType[:min(len(itemType), maxName)]))
		s.found.addType(s.scope)
		if s.scope != "ListItem" {
			s.inCrumb = s.scope == "BreadcrumbList"
		}
	}
	prop := a["itemprop"]
	if prop == nil || s.field != "" {
		return
	}
	field := string(bytes.ToLower(prop[:min(len(prop), maxName)]))
	if wanted := s.scope == "Product" && (field == "name" || field == "category") || s.inCrumb && field == "name"; !wanted {
		return
	}
	s.prop.reset(maxName)
	s.field, s.tag = field, tag
	if a["content"] != nil || tag == atom.Meta {
		s.prop.write(a["content"])
		s.end(tag)
	}
}

// chars collects the text of the current property.
func (s *schema) chars(text []byte) {
	if s.field != "" {
		s.prop.write(text)
	}
}

// end stores the current property if its element ends.
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

// typeName returns the name of a type without its vocabulary, a URL or a prefix.
func typeName(name string) string {
	name = strings.TrimRight(strings.TrimSpace(name), "/")
	return name[strings.LastIndexAny(name, "/#:")+1:]
}

// anyType lists the types, in lower case, that say nothing about a page's subject.
var anyType = words.Set(`aboutpage aggregateoffer aggregaterating answer article blogposting brand
	breadcrumblist collectionpage contactpage contactpoint corporation country entrypoint faqpage
	geocoordinates imagegallery imageobject individualproduct itemlist itempage listitem localbusiness
	newsarticle object offer offercatalog openinghoursspecification organization page person place
	postaladdress product productgroup profile profilepage propertyvalue question quantitativevalue
	rating readaction reportagenewsarticle review searchaction service sitenavigationelement
	speakablespecification techarticle thing unitpricespecification videoobject webpage webpageelement
	website wpfooter wpheader wpsidebar`)

// addType adds a type in words, unless anyType has it.
func (p *Page) addType(name string) {
	name = typeName(name) // og:type has prefixes
	if len(name) > 64 || anyType[strings.ToLower(name)] {
		return
	}
	if words := fold([]byte(splitCamel(name)), maxName); words != "" {
		p.Types = appendOnce(p.Types, words, maxTypes)
	}
}

// splitCamel separates the words of "AutoRepair", "HVACBusiness" and
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
