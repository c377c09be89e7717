package account

import (
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Shard is one of the parts into which the records of an input are split. Each shard is a run of its own. The
// zero value is the whole input.
type Shard struct {
	Number int // from 1
	Count  int // of the shards
}

// MaxShards is the maximum number of shards. Each shard reads the whole input, and the merge opens a file of each shard.
const MaxShards = 9999

// SplitRule is the name of the rule in package selection that assigns records to shards. Shards of different rules must not be
// mixed.
const SplitRule = "xxh64-site-1"

// ParseShard parses "3/16", the third of sixteen shards.
func ParseShard(text string) (Shard, error) {
	number, count, ok := strings.Cut(text, "/")
	var s Shard
	var errs [2]error
	s.Number, errs[0] = strconv.Atoi(number)
	s.Count, errs[1] = strconv.Atoi(count)
	if !ok || errors.Join(errs[:]...) != nil {
		return Shard{}, fmt.Errorf("%q must be a number and a count, such as 3/16 for the third of sixteen shards, or auto", text)
	}
	return s, s.Check()
}

// Check returns an error if there is no such shard.
func (s Shard) Check() error {
	switch {
	case s == Shard{}:
		return nil
	case s.Count < 1 || s.Count > MaxShards:
		return fmt.Errorf("%v: the number of shards must be 1 to %d", s, MaxShards)
	case s.Number < 1 || s.Number > s.Count:
		return fmt.Errorf("%v: the number of the shard must be 1 to %d", s, s.Count)
	}
	return nil
}

// String formats the shard for ParseShard; "" for the whole input.
func (s Shard) String() string {
	if s == (Shard{}) {
		return ""
	}
	return fmt.Sprintf("%d/%d", s.Number, s.Count)
}

// MarshalText returns the text of String.
func (s Shard) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText is ParseShard.
func (s *Shard) UnmarshalText(text []byte) (err error) {
	*s, err = ParseShard(string(text))
	return err
}

// Folder is the name of the shard's folder: "shard=03-of-16".
func (s Shard) Folder() string {
	digits := max(2, len(strconv.Itoa(s.Count)))
	return fmt.Sprintf("shard=%0*d-of-%d", digits, s.Number, s.Count)
}

// ShardOf returns the shard whose folder has the path; false for other paths.
func ShardOf(path string) (Shard, bool) {
	var s Shard
	name := filepath.Base(filepath.Clean(path))
	if _, err := fmt.Sscanf(name, "shard=%d-of-%d", &s.Number, &s.Count); err != nil {
		return Shard{}, false
	}
	return s, s.Count > 0 && s.Check() == nil && s.Folder() == name
}

// Part returns the shard's part of a total, which is the total for the whole input. The parts of all shards add up to the total.
func (s Shard) Part(total int64) int64 {
	if s.Count == 0 {
		return total
	}
	number, count := int64(s.Number), int64(s.Count)
	ofFirst := func(n int64) int64 { return total/count*n + total%count*n/count } // without overflow
	return ofFirst(number) - ofFirst(number-1)
}

// ShardStore is the name of a shard's store in its folder, which query engines ignore.
const ShardStore = "_answers.db"
