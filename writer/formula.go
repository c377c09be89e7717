package writer

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// formulaEscape begins the text of a cell that a spreadsheet would otherwise take for a formula, as Schema.EscapeFormulas
// asks. Every text that begins with it is escaped, too, so that each text can be told from its first character.
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

// needsEscape reports whether a text begins with the escape, or a spreadsheet may take the text for a formula. The first
// characters are those of OWASP's page on CSV injection, with the wide forms that Japanese versions accept. Some
// programs trim blanks before a formula.
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
