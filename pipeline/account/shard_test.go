package account

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
)

func TestParseShard(t *testing.T) {
	for text, want := range map[string]struct {
		shard  Shard
		folder string // "" if the text is refused
	}{
		"3/16":      {Shard{3, 16}, "shard=03-of-16"},
		"1/1":       {Shard{1, 1}, "shard=01-of-1"},
		"7/1000":    {Shard{7, 1000}, "shard=0007-of-1000"},
		"9999/9999": {Shard{9999, 9999}, "shard=9999-of-9999"},
		"0/4":       {},
		"5/4":       {},
		"1/10000":   {},
		"-1/4":      {},
		"3":         {},
		"3/":        {},
		"a/b":       {},
		"":          {},
	} {
		t.Run(text, func(t *testing.T) {
			s, err := ParseShard(text)
			if (err == nil) != (want.folder != "") {
				t.Fatalf("got %v, %v", s, err)
			}
			if err != nil {
				return
			}
			if s != want.shard || s.Folder() != want.folder || s.String() != text {
				t.Errorf("got %+v in %s", s, s.Folder())
			}
			if of, ok := ShardOf("out/" + want.folder + "/"); !ok || of != s {
				t.Errorf("the folder is of %v, %v", of, ok)
			}
		})
	}
	for _, name := range []string{"shard=3-of-16", "shard=03-of-16x", "shard=17-of-16", "shard=00-of-16", "out", "", "shard=-1-of--1"} {
		if s, ok := ShardOf(name); ok {
			t.Errorf("%q is the folder of %v", name, s)
		}
	}
}

func TestPartsOfATotal(t *testing.T) {
	for _, total := range []int64{0, 1, 7, 16, 1000, math.MaxInt64} {
		for _, count := range []int{1, 3, 16} {
			var sum int64
			for n := range count {
				part := Shard{n + 1, count}.Part(total)
				if rest := part - total/int64(count); rest != 0 && rest != 1 {
					t.Errorf("part %d of %d of %d is %d", n+1, count, total, part)
				}
				sum += part
			}
			if sum != total {
				t.Errorf("the %d parts of %d are %d", count, total, sum)
			}
		}
	}
}

// The files of a run have a shard as text, and none for the whole input.
func TestShardInFiles(t *testing.T) {
	for shard, want := range map[Shard]string{{}: "", {Number: 3, Count: 16}: `"shard":"3/16"`} {
		text, err := json.Marshal(Settings{Shard: shard})
		if err != nil || !strings.Contains(string(text), want) || strings.Contains(string(text), "shard") != (want != "") {
			t.Errorf("%v: got %s, %v", shard, text, err)
		}
		var back Settings
		if err := json.Unmarshal(text, &back); err != nil || back.Shard != shard {
			t.Errorf("%s is %v, %v", text, back.Shard, err)
		}
	}
}
