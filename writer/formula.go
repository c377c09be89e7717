package writer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// formulaEscape begins the text of a cell that a spreadsheet would otherwise take for a formula, as Schema.EscapeFormulas
// asks. A text that begins with it is escaped, too, so that removing one of them undoes the escape exactly.
const formulaEscape = "'"

// UnescapeFormula returns the text that a cell or a name has with Schema.EscapeFormulas without the escape.
func UnescapeFormula(cell string) string { return strings.TrimPrefix(cell, formulaEscape) }

// escaped returns the text of a column of a type as it is written. Values of other types than text are no formulas; none
// begins with the escape.
func (l *csvLines) escaped(text string, t ValueType) string {
	if !l.escapes || !needsEscape(text) || t.Type != TypeString && t.Fits(text) {
		return text
	}
	return formulaEscape + text
}

// needsEscape reports whether a text begins with the escape, or a spreadsheet may take the text for a formula. The
// characters are those of OWASP's page "CSV Injection", which also names the wide forms. Programs may trim blanks.
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
