package writer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// formulaEscape is the prefix of cells that a spreadsheet would take for a formula, with Schema.EscapeFormulas. Text that
// begins with the prefix gets it, too, so removing one prefix restores every text.
const formulaEscape = "'"

// UnescapeFormula returns the original text of a cell or a name that was written with Schema.EscapeFormulas.
func UnescapeFormula(cell string) string { return strings.TrimPrefix(cell, formulaEscape) }

// escaped returns the text of a cell with the escape if it needs one. Values of other types than text are never formulas.
func (l *csvLines) escaped(text string, t ValueType) string {
	if !l.escapes || !needsEscape(text) || t.Type != TypeString && t.Fits(text) {
		return text
	}
	return formulaEscape + text
}

// needsEscape reports whether a text begins with the escape, or a spreadsheet may take it for a formula. The characters and
// their wide forms are from OWASP's page "CSV Injection". They also count after white space, which programs may trim.
func needsEscape(text string) bool {
	if text == "" {
		return false
	}
	if strings.IndexByte("\t\r\n"+formulaEscape, text[0]) >= 0 {
		return true
	}
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(text, unicode.IsSpace))
	return strings.ContainsRune("=+-@\uff1d\uff0b\uff0d\uff20", first)
}
