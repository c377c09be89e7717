// Package taxonomy holds the three category systems the embedded service
// answers in: the IAB Tech Lab's Content Taxonomy 3.0 for websites, a public
// product taxonomy, and the North American Industry Classification System
// (NAICS, 2022 edition).
//
// Terms:
//
//   - category: one node of a taxonomy, with a name and at most one parent.
//   - path: the names from the top level down to a category, joined by " > ".
//     It is the value the service answers, except for NAICS, whose value is the
//     code.
//   - alias: a phrase that people use for a category besides its name
//     ("sneakers" for Shoes). Aliases steer classification and are never
//     answered.
//   - outline: the text format the taxonomies are kept in, one category a line
//     (see [Parse]).
//   - overlay: an outline that adds aliases to categories that exist already.
//     scripts/taxonomy generates the product and NAICS names; their handwritten
//     aliases are in overlays, which generation does not change.
package taxonomy
