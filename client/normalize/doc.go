// Package normalize makes requests from websites and product titles. A [Normalizer] makes the same request from different
// spellings of an input. It returns an [*InputError] for text that is neither a website nor a title, and for placeholders of
// missing values, such as NULL.
package normalize
