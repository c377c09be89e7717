package reader

import "testing"

func TestDateForms(t *testing.T) {
	tests := []struct {
		code string
		days float64
		want string
	}{
		{"yyyy-mm-dd", 45292, "2024-01-01"},
		{"d/m/yy h:mm AM/PM", 45292.5, "1/1/24 12:00 PM"},
		{"hh:mm:ss A/P", 0, "12:00:00 A"},
		{"d. mmmm yyyy", 46026.75, "4. January 2026"},
		{"[$-407]ddd, dd-mmm-yyyy;@", 46026, "Sun, 04-Jan-2026"},
		{"[$-F800]dddd\\,\\ mmmm\\ dd", 46026, "Sunday, January 04"},
		{"yyyy\"年\"m\"月\"d\"日\"", 46026, "2026年1月4日"},
		{"mmmmm yyyy", 46026, "J 2026"},
		{"mmm", 46026, "Jan"},
		{"[h]:mm:ss", 1.5, "36:00:00"},
		{"[mm]:ss", 0.5, "720:00"},
		{"mm:ss.0", 0.00001, "00:00.9"},
		{"hh:mm:ss.000", 0.9999999999, "00:00:00.000"},
		{"yyyy-mm-ddThh:mm:ssZ", 45292.25, "2024-01-01T06:00:00Z"},
		{"h:mm", 0.99999999, "0:00"},
		{"d/m/yyyy", 0, "0/1/1900"},
		{"d/m/yyyy ddd", 1, "1/1/1900 Sun"},
		{"d/m/yyyy ddd", 60, "29/2/1900 Wed"},
		{"d/m/yyyy ddd", 61, "1/3/1900 Thu"},
		{"[Red][>1]d/m;0", 61, "1/3"},
	}
	for _, test := range tests {
		if got := newDateForm(test.code).show(test.days, false); got != test.want {
			t.Errorf("%v as %s: got %q, want %q", test.days, test.code, got, test.want)
		}
	}
	if got := newDateForm("d/m/yyyy").show(0, true); got != "1/1/1904" {
		t.Errorf("the first day of 1904: got %s", got)
	}
	for _, code := range []string{"General", "0.00", "0.00E+00", "# ?/?", `0.0 "days"`, "@", "", "[Red]0", "000-0000", `"d"`, `\d0`, "[$USD] 0", "_d0", ";;;", "0.00;d/m", "[", `"`, `\`, "_"} {
		if form := newDateForm(code); form != nil {
			t.Errorf("%q is taken for a date: %v", code, form)
		}
	}
}

func TestNumberText(t *testing.T) {
	tests := []struct{ stored, want string }{
		{"1.2345678901234568E+16", "12345678901234568"},
		{"19.989999999999998", "19.99"},
		{"-0.5", "-0.5"},
		{"45292", "45292"},
		{" 1E3 ", "1000"},
		{"0012", "0012"},
		{"text", "text"},
		{"NaN", "NaN"},
	}
	for _, test := range tests {
		if got, err := new(book).number(test.stored, ""); err != nil || got != test.want {
			t.Errorf("%s: got %s, %v, want %s", test.stored, got, err, test.want)
		}
	}
}
