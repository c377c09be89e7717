// Package normalize makes requests of the websites and product titles of a list. A [Normalizer] gives different spellings of
// an input the same request, refuses texts that are no website and no title with an [*InputError], and recognizes the
// placeholders of missing values, such as NULL.
package normalize
