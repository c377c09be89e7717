// Package taxonomy has the published taxonomies of the embedded service: the IAB Tech Lab's Content Taxonomy for websites,
// Google's product taxonomy, and the North American Industry Classification System (NAICS). It also reads custom taxonomies.
//
// Terms:
//
//   - category: one node of a taxonomy, with a name and at most one parent.
//   - path: the names from the top level down to a category, joined by " > ". It is the value in answers, except for NAICS,
//     whose value is the code.
//   - alias: another phrase for a category ("sneakers" for Shoes). Aliases are for classification, and never in answers.
//   - outline: the text format of the taxonomies, one category per line (see [Parse]).
//   - overlay: an outline that adds aliases to existing categories. scripts/taxonomy generates the outlines of the product
//     taxonomy and NAICS. Their handwritten aliases are in overlays.
package taxonomy
