package suites

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
)

// urlSuite compares the hosts of http and https URLs, and of domains, with what browsers make of them.
func urlSuite(_ context.Context, folder string) ([]result, error) {
	var results []result
	for _, file := range []string{"urltestdata.json", "toascii.json"} {
		var cases []json.RawMessage // objects, and comments between them
		if err := readJSON(&cases, folder, "url", file); err != nil {
			return nil, err
		}
		for _, raw := range cases {
			var c struct{ Input, Hostname, Output string } // of a URL or a domain; "" for null
			switch {
			case json.Unmarshal(raw, &c) != nil: // a comment
			case file == "toascii.json":
				results = append(results, compareHost("domains", "https://"+c.Input+"/", c.Output))
			case isAbsolute(c.Input):
				results = append(results, compareHost("url", c.Input, c.Hostname))
			}
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
