package embedded

import (
	"errors"
	"maps"
	"strings"
	"testing"
	"testing/iotest"
)

func TestLoadKeys(t *testing.T) {
	tests := []struct {
		name, file string
		want       map[string]Quota
	}{
		{"one key", "abc", map[string]Quota{"abc": Unlimited}},
		{"keys with and without quota", "abc\ndef 100\nghi\t0\n", map[string]Quota{"abc": Unlimited, "def": 100, "ghi": 0}},
		{"comments and empty lines", "# ours\n\n  abc  7  \n   # theirs\n", map[string]Quota{"abc": 7}},
		{"as an editor on Windows writes it", "\ufeffabc 1\r\ndef\r\n", map[string]Quota{"abc": 1, "def": Unlimited}},
		{"a key with a number sign", "a#b", map[string]Quota{"a#b": Unlimited}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := LoadKeys(strings.NewReader(tt.file))
			if err != nil || !maps.Equal(got, tt.want) {
				t.Errorf("keys %v, error %v; want %v", got, err, tt.want)
			}
		})
	}
}

func TestLoadKeysErrors(t *testing.T) {
	tests := []struct {
		name, file string
		line       int
	}{
		{"a quota that is no number", "# x\nsecret many", 2},
		{"a negative quota", "secret -1", 1},
		{"a quota beyond counting", "secret 99999999999999999999", 1},
		{"a third word", "secret 1 # ours", 1},
		{"a key twice", "secret\nother\nsecret 5", 3},
		{"a key no header carries", "secret\nsécret", 2},
		{"a control character", "sec\x00ret", 1},
		{"a line too long", "other\n" + strings.Repeat("secret", 20_000), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadKeys(strings.NewReader(tt.file))
			var bad *KeyError
			if !errors.As(err, &bad) || bad.Line != tt.line {
				t.Fatalf("error %v, want one of line %d", err, tt.line)
			}
			if strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), "sécret") {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
	for _, file := range []string{"", "\n# nothing\n"} {
		if _, err := LoadKeys(strings.NewReader(file)); !errors.Is(err, ErrNoKeys) {
			t.Errorf("LoadKeys(%q): error %v, want ErrNoKeys", file, err)
		}
	}
	broken := errors.New("disk error")
	if _, err := LoadKeys(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func FuzzLoadKeys(f *testing.F) {
	for _, file := range []string{"abc", "abc 100\r\n# x\n", "\ufeffa -1", "a\x00", "a\na"} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file string) {
		keys, err := LoadKeys(strings.NewReader(file))
		if (err == nil) != (len(keys) > 0) {
			t.Errorf("keys %v with error %v", keys, err)
		}
		for key, quota := range keys {
			if quota < Unlimited || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
				t.Errorf("key %q with quota %d", key, quota)
			}
		}
	})
}
