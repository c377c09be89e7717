package classify

import (
	"strings"
	"testing"
)

// The head noun names the product; other words name its parts, use, material, pattern, packaging
// or print.
func TestTitleRoles(t *testing.T) {
	tests := []struct{ role, title, want string }{
		// parts and things that come with it
		{"with", "Gas grill with side burner and cover", "Outdoor Grills"},
		{"before the head", "4-burner propane gas grill", "Outdoor Grills"},
		{"after a comma", "Gas grill, 4 burners, black", "Outdoor Grills"},
		{"with", "Violin with bow and case", "Violins"},
		{"with", "Bed with drawers and headboard", "Beds & Bed Frames"},
		{"with", "Watch with leather strap", "Watches"},
		{"with", "Camera with 50mm lens", "Cameras"},
		{"with", "Tent with footprint and pegs", "Tents"},
		{"with", "Stroller with cup holder and rain cover", "Baby Strollers"},
		{"without", "Vacuum cleaner without bag", "Vacuums"},
		// an accessory is an accessory, however it is said
		{"accessory", "Grill cover", "Outdoor Grill Covers"},
		{"for", "Cover for gas grill", "Outdoor Grill Covers"},
		{"for", "Case for acoustic guitar", "Guitar Cases & Gig Bags"},
		{"for", "Replacement strap for smart watch", "Watch Bands"},
		{"for", "Nozzle for garden hose", "Garden Hose Spray Nozzles"},
		{"for", "Toy for cats", "Cat Toys"},
		// a compound that names another thing than its last word
		{"idiom", "Hot dog costume", "Costumes"},
		{"idiom", "Adult hot dog costume", "Costumes"},
		{"no idiom", "Dog costume", "Dog Apparel"},
		{"no idiom", "Lobster costume for dogs", "Dog Apparel"},
		// materials, patterns and colours, wherever they stand
		{"material", "Corduroy couch", "Sofas"},
		{"material", "Couch, three seats, beige corduroy", "Sofas"},
		{"material is all there is", "Corduroys", "Pants"},
		{"material", "Vestido de algodón con volantes", "Dresses"},
		{"pattern", "Red check tablecloth", "Tablecloths"},
		{"pattern", "Tablecloth red check", "Tablecloths"},
		{"no pattern", "Checks, 3 to a page", "Checks"},
		{"colour", "Olive green jacket", "Coats & Jackets"},
		{"motif", "Croissant chair", "Chairs"},
		// packaging
		{"in", "Smoked paprika in a jar", "Herbs & Spices"},
		{"after a weight", "Smoked paprika 75g jar", "Herbs & Spices"},
		{"after a weight", "Strawberry jam 340 g jar", "Jams & Jellies"},
		{"no packaging", "Jar for paprika", "Food Storage Containers"},
		{"no packaging", "Glass jar, 500 ml", "Food Storage Containers"},
		// whose it is
		{"owner", "The Lighthouse Keeper's Almanac, paperback book", "Print Books"},
		// link words that are none
		{"a unit", "3 W LED bulb", "LED Light Bulbs"},
		{"in a compound", "Stick-on earring", "Earrings"},
		{"before the product", "By Arden with love: oak desk", "Desks"},
	}
	e := engines()["products"]
	for _, tt := range tests {
		t.Run(tt.role+"/"+tt.title, func(t *testing.T) {
			if got := best(e, e.matchTitle(tt.title)); got != tt.want && !strings.HasSuffix(got, " > "+tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
