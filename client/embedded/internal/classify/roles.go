package classify

import "github.com/bulkcat/bulkcat/client/embedded/internal/words"

// links precede the part of a title that gives the product's purpose, material or accessories.
var links = words.Set(`for with in by from on at w compatible fits featuring includes including without feat
	con para mit pour avec und em en aus sin ohne sans um`)

// purposes are the links that precede the product's purpose: a "cover for a grill" is a grill
// cover.
var purposes = words.Set(`for compatible fits para pour fur um`)

// units follow a number. After a number, "in" and "w" are not links, also in "2 in 1".
var units = words.Set(`in w g gm gms gram grams kg kgs oz lb lbs`)

// containers follow the product and its weight: "Paprika 75g Jar".
var containers = words.Set(`jar tin can bottle box bag pouch packet tub tube sachet carton bucket canister`)

// genitives are the words for "of" in languages that name the product first: a "funda de movil" is a case. The words after a
// genitive qualify the product.
var genitives = words.Set(`de del du des di da do dos`)

// noise are words that sellers add to titles for search engines.
var noise = words.Set(`buy online price prices india sale offer offers deal deals discount shipping delivery bestseller assorted`)

// modifiers name a product only if no other word does: colours, sizes, measures, materials,
// patterns, cuts, and words for a number of things.
var modifiers = words.Set(`black white red blue green yellow pink purple brown gray grey orange gold golden silver beige navy maroon multicolor multi
	color small medium large xl xxl xs mini big long short slim regular size pack packs piece pieces pcs pc set sets combo pair
	pairs men man women woman boy boys girl girls kid kids unisex adult cm mm inch inches ft oz ml ltr kg gm gb tb mah watt watts volt v x
	free best quality premium original genuine brand classic vintage modern style design print printed solid plain
	collection edition series model version type kit sleeve sleeves neck fit self design casual formal party full half round single
	double striped checkered abstract floral cotton leather silk wool polyester synthetic denim steel metal wood wooden plastic ceramic glass
	magnetic light dark bright extra ultra power pro plus max super deluxe luxury royal lemon lime orange rose cherry natural organic body
	peach salmon cream ivory turquoise teal aqua lilac mint olive mustard burgundy charcoal khaki tan taupe coral emerald
	corduroy velvet linen canvas suede satin nylon fleece flannel tweed jute hemp cashmere chiffon georgette spandex lycra viscose tulle crochet
	rattan wicker bamboo oak walnut teak pine mahogany acacia marble granite porcelain stainless brass copper aluminum aluminium bronze chrome
	leatherette faux acrylic resin check checked plaid gingham paisley polka dot dots stripe stripes tartan herringbone houndstooth
	camo camouflage pattern patterned embroidered`)

// commonplaces are words that occur in documents on every subject, such as words of the epidemic of 2020 in texts of those
// years. They count for singular and plural.
var commonplaces = words.Set(`home contact page search login sign site website web click online free menu view post privacy policy term terms
	cookie cookies read help faq blog link links share follow subscribe news newsletter email account register member name number date
	time day week month year today latest best top list full welcome find get make use add close open start
	next back first good great world people life live company companies corporation corp inc incorporated limited ltd plc llc group
	holding holdings subsidiary subsidiaries business businesses segment segments service services product products solution solutions
	offer offers provide provides provider focus engaged operate operates operation operations operating based develop developing
	development market markets marketing portfolio project projects platform system systems management technology technologies
	international global partner partners customer customers client clients industry industries industrial commercial general type
	related acquisition acquire sale sell activity material equipment facility work include sector application area part line form
	public private national united state states america american city local country event story right set office need want know
	look come way thing house white show say coronavirus covid pandemic outbreak lockdown`)

// role is the function of a word in a title.
type role uint8

const (
	stopWord role = 1 << iota
	link
	genitive
	noiseWord
	modifier
	purpose
	unit
	container
)

// roles maps the stop words and all words above to their roles: one lookup instead of eight.
var roles = func() map[string]role {
	all := make(map[string]role)
	for k, set := range map[role]map[string]bool{
		stopWord: words.Stop, link: links, genitive: genitives, noiseWord: noise, modifier: modifiers,
		purpose: purposes, unit: units, container: containers,
	} {
		for w := range set {
			all[w] |= k
		}
	}
	return all
}()

// roleIn is the role of a word in titles of a language, in addition to roles.
func roleIn(l *words.Language, word []byte) role {
	switch {
	case l == words.English:
		return 0
	case l.Modifiers[string(word)]:
		return modifier
	case l.Function[string(word)] && roles[string(word)]&(link|genitive) == 0:
		return stopWord
	}
	return 0
}
