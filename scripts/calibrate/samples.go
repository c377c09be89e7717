package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
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
	var texts bytes.Buffer
	var labels []string
	for i, line := range strings.Split(strings.TrimSuffix(string(content), "\n"), "\n")[1:] {
		text, rest, ok := strings.Cut(line, "\t")
		if !ok {
			return nil, fmt.Errorf("line %d has no tab", i+2)
		}
		label, _, _ := strings.Cut(rest, "\t")
		texts.WriteString(text + "\n")
		labels = append(labels, label)
	}
	answers, err := classifyAll(k.fit, &texts)
	if err != nil {
		return nil, err
	}
	if len(answers) != len(labels) || len(labels) == 0 {
		return nil, fmt.Errorf("%d answers to %d samples", len(answers), len(labels))
	}
	var set []entry
	for i, answer := range answers {
		set = append(set, k.entries(answer, strings.Split(labels[i], "|"), 1/float64(len(answers)))...)
	}
	fmt.Fprintf(out, "%s: %d samples\n", filepath.Base(file), len(answers))
	return set, nil
}

// answerEvidence is classify.Evidence.
type answerEvidence struct {
	Path   string                `json:"path"`
	Values [coefficients]float64 `json:"values"`
}

// classifyAll returns the entries of each text, at most three.
func classifyAll(fit string, texts io.Reader) ([][]answerEvidence, error) {
	cmd := exec.Command("go", "run", "./client/embedded/internal/evidence", fit)
	cmd.Stdin, cmd.Stderr = texts, os.Stderr
	output, err := cmd.Output()
	if err != nil {
		return nil, err
	}
	var answers [][]answerEvidence
	for decoder := json.NewDecoder(bytes.NewReader(output)); ; {
		var answer []answerEvidence
		if err := decoder.Decode(&answer); err == io.EOF {
			return answers, nil
		} else if err != nil {
			return nil, err
		}
		answers = append(answers, answer)
	}
}

// entries compares an answer with the allowed paths or codes.
func (k kind) entries(answer []answerEvidence, allowed []string, weight float64) []entry {
	entries := make([]entry, len(answer))
	for i, a := range answer {
		entries[i] = entry{evidence: a.Values, right: isRight(a.Path, allowed), weight: weight}
		if i > 0 {
			entries[i].weight *= k.others
		}
	}
	return entries
}

// isRight reports whether a path or code is one of those allowed, or lies below one.
func isRight(path string, allowed []string) bool {
	return slices.ContainsFunc(allowed, func(a string) bool {
		isCode := strings.Trim(a, "0123456789-") == ""
		return path == a || strings.HasPrefix(path, a+" > ") || isCode && strings.HasPrefix(path, a)
	})
}
