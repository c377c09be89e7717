package reader

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

const (
	// maxExcelDate is the first number of days that Excel does not show as a date: January 1, 10000.
	maxExcelDate = 2958466
	// days1904 is the number of days between the two epochs of workbooks.
	days1904 = 1462
	// maxFormCode is the longest number format, in bytes. Excel writes at most 255 characters.
	maxFormCode = 1 << 10
)

// builtInForms are the built-in number formats of dates and times (ECMA-376 part 1 §18.8.30). Formats that depend on the
// language of Excel are ISO 8601 here.
var builtInForms = map[int]string{
	14: "yyyy-mm-dd", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "hh:mm",
	21: "hh:mm:ss", 22: "yyyy-mm-dd hh:mm", 27: "yyyy-mm-dd", 28: "yyyy-mm-dd", 29: "yyyy-mm-dd", 30: "yyyy-mm-dd",
	31: "yyyy-mm-dd", 32: "hh:mm", 33: "hh:mm:ss", 34: "hh:mm", 35: "hh:mm:ss", 36: "yyyy-mm-dd", 45: "mm:ss",
	46: "[h]:mm:ss", 47: "mm:ss.0", 50: "yyyy-mm-dd", 51: "yyyy-mm-dd", 52: "yyyy-mm-dd", 53: "yyyy-mm-dd",
	54: "yyyy-mm-dd", 55: "hh:mm", 56: "hh:mm:ss", 57: "yyyy-mm-dd", 58: "yyyy-mm-dd",
}

// cellStyles are the number formats of the styles of cells.
type cellStyles struct {
	formats []int            // number of the format of each style
	forms   map[int]dateForm // by number of the format; nil for a format of numbers
}

func (s *cellStyles) add(format string) error {
	number := 0
	if format != "" {
		var err error
		if number, err = strconv.Atoi(format); err != nil {
			return fmt.Errorf("a style has the number format %q", format)
		}
	}
	s.formats = append(s.formats, number)
	return tooMany(len(s.formats), "styles")
}

func (s *cellStyles) addForm(format, code string) error {
	number, err := strconv.Atoi(format)
	if err != nil || len(code) > maxFormCode {
		return fmt.Errorf("the number format %q is damaged", format)
	}
	s.forms[number] = newDateForm(code)
	return tooMany(len(s.forms), "number formats")
}

// form returns the date form of a style; nil for a style of numbers.
func (s *cellStyles) form(style string) (dateForm, error) {
	if style == "" {
		return nil, nil
	}
	n, err := strconv.Atoi(style)
	if err != nil {
		return nil, fmt.Errorf("a cell has the style %q", style)
	}
	if n < 0 || n >= len(s.formats) {
		return nil, nil // Excel shows the number
	}
	number := s.formats[n]
	form, known := s.forms[number]
	if !known {
		form = newDateForm(builtInForms[number])
		s.forms[number] = form
	}
	return form, nil
}

// number returns the text of a stored number. Excel stores dates as numbers of days: these have the form that Excel shows.
// Other numbers keep their digits, which Excel may round when it shows them.
func (b *book) number(stored, style string) (string, error) {
	form, err := b.styles.form(style)
	if err != nil {
		return "", err
	}
	trimmed := strings.TrimSpace(stored)
	x, err := strconv.ParseFloat(trimmed, 64)
	switch {
	case err != nil, math.IsNaN(x), math.IsInf(x, 0):
		return unescape(stored), nil
	case form != nil && x >= 0 && x < maxExcelDate:
		return form.show(x, b.from1904), nil
	}
	return numberText(trimmed, x), nil
}

// numberText returns a stored number without an exponent. It rounds fractions to 15 digits, as Excel does: further digits come
// from the binary fraction, such as 19.989999999999998 for 19.99.
func numberText(stored string, x float64) string {
	if strings.Trim(stored, "-0123456789") == "" {
		return stored
	}
	const digits = 15
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if err != nil || x == math.Trunc(x) {
		rounded = x
	}
	return string(appendFloat(nil, rounded, 64))
}

// dateForm is a number format of dates and times, such as d/m/yyyy or [h]:mm.
type dateForm []formField

// formField is a literal text, or a component of a time, with its width in letters.
type formField struct {
	kind  byte // y, m, d, h, s, or a constant below
	width int
	text  string
}

// The other kinds of fields.
const (
	literal      = 0
	minutes      = 'M'
	weekday      = 'a'
	halfDay      = 'p' // AM or PM
	fraction     = '.' // of seconds
	totalHours   = 'H'
	totalMinutes = 'N'
	totalSeconds = 'S'
)

// formTokens splits a number format into quoted and escaped text, brackets, spaces of the width of a character, and runs of
// date letters.
var formTokens = regexp.MustCompile(`(?is)"[^"]*"?|\\.?|\[[^\]]*\]?|[_*].?|am/pm|a/p|上午/下午|general|e[+-]|y+|m+|d+|a{3,}|e+|[gb]+|h+|s+|\.0+|.`)

// newDateForm returns the first section of a number format, which is for positive numbers; nil if it is not a date form.
func newDateForm(code string) dateForm {
	var form dateForm
	dates := false
	for _, token := range formTokens.FindAllString(code, -1) {
		if token == ";" {
			break
		}
		field, ok := newFormField(token)
		if !ok {
			return nil
		}
		dates = dates || field.kind != literal && field.kind != fraction
		form = append(form, field)
	}
	if !dates {
		return nil
	}
	form.findMinutes()
	return form
}

// newFormField returns the field of a token; false for a token that occurs only in formats of numbers.
func newFormField(token string) (field formField, ok bool) {
	lower := strings.ToLower(token)
	field = formField{kind: literal, width: len(token)}
	switch first := lower[0]; {
	case first == '"':
		field.text = strings.Trim(token, `"`)
	case first == '\\':
		field.text = token[1:]
	case first == '[':
		field = bracketField(lower)
	case first == '_', first == '*': // a space as wide as the next character, or a filling
	case strings.HasSuffix(lower, "/pm"), lower == "a/p", lower == "上午/下午":
		field.kind, field.text = halfDay, token
	case lower == "general", lower == "e+", lower == "e-", strings.ContainsAny(lower[:1], "0#?%"):
		return field, false
	case strings.ContainsAny(lower[:1], "ymdhs"):
		field.kind = first
	case first == 'e':
		field.kind, field.width = 'y', 4
	case first == 'a' && len(token) > 1:
		field.kind = weekday
	case len(token) > 1 && first == '.':
		field.kind, field.width = fraction, min(len(token)-1, 3)
	case first == 'g', first == 'b', first == '@': // eras are left out: years are Gregorian
	case 'a' <= first && first <= 'z' && first != 't' && first != 'z':
		return field, false
	default:
		field.text = token
	}
	return field, true
}

// bracketField returns the field of a part in brackets: a total such as [h], the text before a language such as in [$-409], or
// nothing for a colour or a condition.
func bracketField(token string) formField {
	inner := strings.Trim(token, "[]")
	totals := map[byte]byte{'h': totalHours, 'm': totalMinutes, 's': totalSeconds}
	if inner != "" && strings.Trim(inner, inner[:1]) == "" && totals[inner[0]] != 0 {
		return formField{kind: totals[inner[0]], width: len(inner)}
	}
	text, isText := strings.CutPrefix(inner, "$")
	if !isText {
		return formField{}
	}
	text, _, _ = strings.Cut(text, "-")
	return formField{text: text}
}

// findMinutes changes months after hours or before seconds to minutes.
func (f dateForm) findMinutes() {
	before := -1 // index of the previous component
	for i := range f {
		switch kind := f[i].kind; {
		case kind == literal || kind == halfDay || kind == fraction:
			continue
		case kind == 'm' && f[i].width <= 2 && before >= 0 && strings.IndexByte("hsHNS", f[before].kind) >= 0:
			f[i].kind = minutes
		case kind == 's' && before >= 0 && f[before].kind == 'm' && f[before].width <= 2:
			f[before].kind = minutes
		}
		before = i
	}
}

// width returns the width of the first field of a kind; 0 if there is none.
func (f dateForm) width(kind byte) int {
	for _, field := range f {
		if field.kind == kind {
			return field.width
		}
	}
	return 0
}

// show formats a number of days.
func (f dateForm) show(days float64, from1904 bool) string {
	unit := time.Second
	for range f.width(fraction) {
		unit /= 10
	}
	const day = 24 * time.Hour
	whole, part := math.Modf(days)
	clock := time.Duration(part * float64(day)).Round(unit)
	date := int(whole) + int(clock/day)
	m := moment{date: date, clock: clock % day, total: float64(date)*day.Seconds() + (clock % day).Seconds(), half: f.width(halfDay) > 0}
	if from1904 {
		m.date += days1904
	}
	var text []byte
	for _, field := range f {
		text = m.append(text, field)
	}
	return string(text)
}

// moment is a date and a time of day.
type moment struct {
	date  int // in Excel's days since 1900
	clock time.Duration
	total float64 // seconds
	half  bool    // the hours are 1 to 12
}

// calendar returns the date in Excel's calendar, where 1900 has a January 0 and a February 29.
func (m moment) calendar() (year int, month time.Month, day int) {
	switch {
	case m.date == 0:
		return 1900, time.January, 0
	case m.date == 60:
		return 1900, time.February, 29
	case m.date < 60:
		return time.Date(1899, time.December, 31+m.date, 0, 0, 0, 0, time.UTC).Date()
	}
	return time.Date(1899, time.December, 30+m.date, 0, 0, 0, 0, time.UTC).Date()
}

func (m moment) append(text []byte, field formField) []byte {
	year, month, day := m.calendar()
	hour := int(m.clock.Hours())
	width := min(field.width, 2)
	switch field.kind {
	case 'y':
		if field.width <= 2 {
			return fmt.Appendf(text, "%02d", year%100)
		}
		return fmt.Appendf(text, "%04d", year)
	case 'm':
		return appendName(text, field.width, int(month), month.String())
	case 'd', weekday:
		return appendName(text, field.width, day, time.Weekday((m.date+6)%7).String())
	case 'h':
		if m.half {
			hour = (hour+11)%12 + 1
		}
		return fmt.Appendf(text, "%0*d", width, hour)
	case minutes:
		return fmt.Appendf(text, "%0*d", width, int(m.clock.Minutes())%60)
	case 's':
		return fmt.Appendf(text, "%0*d", width, int(m.clock.Seconds())%60)
	case fraction:
		return fmt.Appendf(text, ".%03d", m.clock.Milliseconds()%1000)[:len(text)+1+field.width]
	case halfDay:
		am, pm, _ := strings.Cut(field.text, "/")
		if hour < 12 {
			return append(text, am...)
		}
		return append(text, pm...)
	case totalHours:
		return fmt.Appendf(text, "%0*d", field.width, int(m.total/3600))
	case totalMinutes:
		return fmt.Appendf(text, "%0*d", field.width, int(m.total/60))
	case totalSeconds:
		return fmt.Appendf(text, "%0*d", field.width, int(m.total))
	}
	return append(text, field.text...)
}

// appendName appends, by width, a number of one or two digits, or the first three letters, all letters or the first letter of
// an English name.
func appendName(text []byte, width, number int, name string) []byte {
	switch width {
	case 1, 2:
		return fmt.Appendf(text, "%0*d", width, number)
	case 3:
		return append(text, name[:3]...)
	case 5:
		return append(text, name[:1]...)
	}
	return append(text, name...)
}
