package suites

import "strings"

// reasons explain refusals and differences: those of a suite whose name and detail contain a text.
var reasons = []struct{ suite, text, reason string }{
	{"url", "user name or password", "a URL with a user name is never sent to a service"},
	{"url", "not a website", "a name that the DNS does not have, invalid punycode, the port 0, or a line end in the host"},
	{"url", "a placeholder for a missing value", "a host of dots alone, which no name has"},
	{"domains", "not a website", "a name that the DNS does not have, invalid punycode, or characters that are newer than Unicode 15"},
	{"json", "0 records", "a list without records is read as an empty list, with a warning"},
	{"json", "which column is the input", "no member can be the input"},
	{"parquet", "has lists or maps", "no column can be the input: all are lists or maps"},
	{"parquet", "arrays or maps in its only column", "no column can be the input: all are lists or maps"},
	{"parquet", "does not have its checksum", "the checksum of a page is wrong, which pyarrow and DuckDB do not check"},
}

// reasonFor returns why a case is refused or differs; "" if no reason is known.
func reasonFor(r result) string {
	for _, known := range reasons {
		if strings.HasPrefix(r.suite, known.suite) && strings.Contains(r.name+" "+r.detail, known.text) {
			return known.reason
		}
	}
	return ""
}
