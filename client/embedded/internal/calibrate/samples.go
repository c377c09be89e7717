package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/client/embedded/internal/classify"
)

// entry is an entry of an answer to a sample.
type entry struct {
	evidence [coefficients]float64 // as classify.Evidence
	right    bool
	weight   float64
}

// read classifies the samples of a file, and prints their number.
func (k kind) read(file string, out io.Writer) ([]entry, error) {
	content, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	evidence, err := classify.EvidenceOf(k.fit)
	if err != nil {
		return nil, err
	}
	lines := strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")[1:]
	if len(lines) == 0 {
		return nil, errors.New("there are no samples")
	}
	var set []entry
	for i, line := range lines {
		text, rest, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("line %d has no tab", i+2)
		}
		label, _, _ := strings.Cut(rest, "\t")
		set = append(set, k.entries(evidence(text), strings.Split(label, "|"), 1/float64(len(lines)))...)
	}
	fmt.Fprintf(out, "%s: %d samples\n", filepath.Base(file), len(lines))
	return set, nil
}

// entries compares an answer with the allowed paths or codes.
func (k kind) entries(answer []classify.Evidence, allowed []string, weight float64) []entry {
	entries := make([]entry, len(answer))
	for i, a := range answer {
		entries[i] = entry{evidence: a.Values, right: isRight(a.Path, allowed), weight: weight}
		if i > 0 {
			entries[i].weight *= k.others
		}
	}
	return entries
}

// isRight reports whether a path or code is allowed, or lies below an allowed path or code.
func isRight(path string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		isCode := strings.Trim(a, "0123456789-") == ""
		return path == a || strings.HasPrefix(path, a+" > ") || isCode && strings.HasPrefix(path, a)
	})
}
