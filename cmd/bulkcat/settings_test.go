package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/text/encoding/unicode"
)

// Editors and shells of Windows begin files with a byte order mark, and write UTF-16.
func TestSettingsInOtherEncodings(t *testing.T) {
	const text = "key-of-alice-1\r\n"
	utf16 := func(order unicode.Endianness, mark unicode.BOMPolicy) string {
		encoded, err := unicode.UTF16(order, mark).NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	}
	for name, tt := range map[string]struct{ content, wrong string }{
		"UTF-8":                                   {text, ""},
		"UTF-8 with a byte order mark":            {"\ufeff" + text, ""},
		"UTF-16LE with a byte order mark":         {utf16(unicode.LittleEndian, unicode.UseBOM), ""},
		"UTF-16BE with a byte order mark":         {utf16(unicode.BigEndian, unicode.UseBOM), ""},
		"UTF-16LE without a byte order mark":      {utf16(unicode.LittleEndian, unicode.IgnoreBOM), "save it as UTF-8"},
		"two lines":                               {text + text, "must hold one line, the API key"},
		"nothing but a byte order mark":           {"\ufeff", "must hold one line, the API key"},
		"half a character of UTF-16 at the end":   {utf16(unicode.LittleEndian, unicode.UseBOM) + "x", "must hold one line, the API key"},
		"a byte order mark in front of two lines": {"\ufeff" + text + "\ufeff" + text, "must hold one line, the API key"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "key.txt")
			if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
				t.Fatal(err)
			}
			key, err := readLine(t.Context(), "--api-key-file", path, "the API key")
			if tt.wrong == "" && (err != nil || key != "key-of-alice-1") || tt.wrong != "" && (err == nil || !strings.Contains(err.Error(), tt.wrong)) {
				t.Errorf("got %q, %v", key, err)
			}
		})
	}
}
