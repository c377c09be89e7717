package embedded

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/bulkcat/bulkcat/client/money"
)

// cents is a price of a cent.
var cents = money.Price{Request: 10_000_000, Currency: "EUR"}

func TestLoadKeys(t *testing.T) {
	plain := func(line int, key string, quota Quota) Grant {
		return Grant{Key: key, Name: numbered(line), Quota: quota}
	}
	limited := func(rate Rate, burst int) Grant {
		g := plain(1, "abc", Unlimited)
		g.Rate, g.Burst = rate, burst
		return g
	}
	tests := []struct {
		name, file string
		want       []Grant
	}{
		{"one key", "abc", []Grant{plain(1, "abc", Unlimited)}},
		{"keys with and without quota", "abc\ndef 100\nghi\t0\n", []Grant{plain(1, "abc", Unlimited), plain(2, "def", 100), plain(3, "ghi", 0)}},
		{"comments and empty lines", "# ours\n\n  abc  7  \n   # theirs\n", []Grant{plain(3, "abc", 7)}},
		{"as an editor on Windows writes it", "\ufeffabc 1\r\ndef\r\n", []Grant{plain(1, "abc", 1), plain(2, "def", Unlimited)}},
		{"a key with a number sign", "a#b", []Grant{plain(1, "a#b", Unlimited)}},
		{"a key with an equals sign", "quota=5", []Grant{plain(1, "quota=5", Unlimited)}},
		{"all there is", "abc quota=100000 rate=50/s burst=100 priority=2 plan=team name=alice@acme", []Grant{{
			Key: "abc", Name: "alice@acme", Plan: "team", Quota: 100000, Rate: Rate{50, time.Second}, Burst: 100, Priority: 2}}},
		{"a quota alone before the rest", "abc 5 plan=p name=n", []Grant{{Key: "abc", Name: "n", Plan: "p", Quota: 5}}},
		{"a quota of a day", "abc 5000/day name=n", []Grant{{Key: "abc", Name: "n", Quota: 5000, Period: Daily, Zone: time.UTC}}},
		{"a quota of a month", "abc quota=5000/month name=n zone=UTC", []Grant{{Key: "abc", Name: "n", Quota: 5000, Period: Monthly, Zone: time.UTC}}},
		{"a cost", "abc cost=2.509 name=n", []Grant{{Key: "abc", Name: "n", Quota: 250}}},
		{"a cost of a week", "abc cost=0.5/week name=n", []Grant{{Key: "abc", Name: "n", Quota: 50, Period: Weekly, Zone: time.UTC}}},
		{"an unlimited quota", "abc quota=unlimited", []Grant{plain(1, "abc", Unlimited)}},
		{"a rate a second", "abc rate=50", []Grant{limited(Rate{50, time.Second}, 50)}},
		{"a rate a minute", "abc rate=600/m", []Grant{limited(Rate{600, time.Minute}, 10)}},
		{"a rate an hour", "abc rate=36/h", []Grant{limited(Rate{36, time.Hour}, 1)}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got, err := LoadKeys(strings.NewReader(tt.file), cents)
			if err != nil || !slices.Equal(got, tt.want) {
				t.Errorf("grants %#v, error %v; want %#v", got, err, tt.want)
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
		{"a quota twice", "secret 1 quota=2", 1},
		{"a quota of words", "secret quota=many", 1},
		{"a quota of a fortnight", "secret quota=5/fortnight", 1},
		{"a quota of no period", "secret quota=5/", 1},
		{"an unlimited quota of a day", "secret quota=unlimited/day", 1},
		{"a cost that is none", "secret cost=1e9", 1},
		{"a cost of less than a request", "secret cost=0.009", 1},
		{"a cost of a year", "secret cost=1/year", 1},
		{"a cost and a quota", "secret cost=1 quota=2", 1},
		{"a zone that is none", "secret quota=5/day zone=Mars/Olympus", 1},
		{"the zone of this machine", "secret quota=5/day zone=Local", 1},
		{"a zone without a name", "secret quota=5/day zone=", 1},
		{"a zone without a period", "secret quota=5 zone=UTC", 1},
		{"a rate of nothing", "secret rate=0/s", 1},
		{"a rate a fortnight", "secret rate=10/f", 1},
		{"a burst of nothing", "secret rate=10/s burst=0", 1},
		{"a burst without a rate", "secret burst=5", 1},
		{"a priority of nothing", "secret priority=0", 1},
		{"a priority too high", "secret priority=1001", 1},
		{"a name with a space", "secret name=alice secret", 1},
		{"a name that is empty", "secret name=", 1},
		{"a name too long", "secret name=" + strings.Repeat("a", 65), 1},
		{"a name twice", "secret name=a\nother name=a", 2},
		{"a plan of other characters", "secret plan=\"team\"", 1},
		{"another attribute", "other color=secret", 1},
		{"the key behind the rest", "name=alice secret=", 1},
		{"a key twice", "secret\nother\nsecret 5", 3},
		{"a key no header carries", "secret\nsécret", 2},
		{"a control character", "sec\x00ret", 1},
		{"a line too long", "other\n" + strings.Repeat("secret", 20_000), 2},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := LoadKeys(strings.NewReader(tt.file), cents)
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
		if _, err := LoadKeys(strings.NewReader(file), money.Price{}); !errors.Is(err, ErrNoKeys) {
			t.Errorf("LoadKeys(%q): error %v, want ErrNoKeys", file, err)
		}
	}
	broken := errors.New("disk error")
	if _, err := LoadKeys(iotest.ErrReader(broken), money.Price{}); !errors.Is(err, broken) {
		t.Errorf("error %v, want %v", err, broken)
	}
}

func FuzzLoadKeys(f *testing.F) {
	for _, file := range []string{"abc", "abc 100\r\n# x\n", "\ufeffa -1", "a\x00", "a\na", "a quota=1 rate=50/s burst=9 plan=p name=n"} {
		f.Add(file)
	}
	f.Fuzz(func(t *testing.T, file string) {
		grants, err := LoadKeys(strings.NewReader(file), money.Price{})
		if (err == nil) != (len(grants) > 0) {
			t.Errorf("grants %v with error %v", grants, err)
		}
		for _, g := range grants {
			if g.Quota < Unlimited || strings.ContainsFunc(g.Key, func(r rune) bool { return r <= ' ' || r >= 0x7f }) {
				t.Errorf("key %q with quota %d", g.Key, g.Quota)
			}
			if !isLabel(g.Name) || g.Plan != "" && !isLabel(g.Plan) || (g.Rate.Requests > 0) != (g.Burst > 0) || g.Rate.Requests < 0 {
				t.Errorf("grant %#v", g)
			}
		}
	})
}

func TestAGrantPrintsAsItsName(t *testing.T) {
	g := Grant{Key: "secret", Name: "alice"}
	for _, format := range []string{"%v", "%+v", "%s"} {
		if got := fmt.Sprintf(format, g); got != "alice" {
			t.Errorf("%s prints %s", format, got)
		}
	}
}
