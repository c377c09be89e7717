package main

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
)

// urlSuite compares the hosts of http and https URLs, and of domains, with what browsers make of them.
func urlSuite(folder string) ([]result, error) {
	var urls []json.RawMessage // objects, and comments between them
	var domains []json.RawMessage
	if err := readJSON(&urls, folder, "url", "urltestdata.json"); err != nil {
		return nil, err
	}
	if err := readJSON(&domains, folder, "url", "toascii.json"); err != nil {
		return nil, err
	}
	var results []result
	for _, raw := range urls {
		var c struct {
			Input    string
			Hostname string
			Failure  bool
		}
		if json.Unmarshal(raw, &c) != nil {
			continue // a comment
		}
		if isAbsolute(c.Input) {
			results = append(results, compareHost("url", c.Input, c.Hostname))
		}
	}
	for _, raw := range domains {
		var c struct {
			Input  string
			Output string // "" for null
		}
		if json.Unmarshal(raw, &c) == nil {
			results = append(results, compareHost("domains", "https://"+c.Input+"/", c.Output))
		}
	}
	return results, nil
}

// isAbsolute reports whether an input is an http or https URL that means the same beside every base URL.
func isAbsolute(input string) bool {
	text := strings.ToLower(strings.Trim(input, " \t\n\r\f\v\x00\x1f"))
	text = strings.NewReplacer("\t", "", "\n", "", "\r", "", `\`, "/").Replace(text)
	return strings.HasPrefix(text, "http://") || strings.HasPrefix(text, "https://")
}

// compareHost compares the host of an input with want, which is "" for an input that browsers refuse.
func compareHost(suite, input, want string) result {
	r := result{suite: suite, name: fmt.Sprintf("%q", input), verdict: agrees}
	request, err := normalize.Normalizer{}.Request(client.Website, input, "taxonomy_v3")
	if err != nil {
		if want != "" {
			r.verdict, r.detail = refused, fmt.Sprintf("%v (host %s)", err, want)
		}
		return r
	}
	_, rest, _ := strings.Cut(request.Input, "://")
	host, _, _ := strings.Cut(rest, "/")
	if port := strings.LastIndexByte(host, ':'); port > strings.LastIndexByte(host, ']') {
		host = host[:port]
	}
	if want = strings.TrimSuffix(want, "."); host != want {
		r.verdict, r.detail = differs, fmt.Sprintf("host %q, want %q", host, want)
	}
	return r
}

func readJSON(to any, path ...string) error {
	text, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		return err
	}
	return json.Unmarshal(text, to)
}
