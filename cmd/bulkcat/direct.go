package main

import (
	"cmp"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/publicsuffix"

	"github.com/bulkcat/bulkcat/client"
	"github.com/bulkcat/bulkcat/client/normalize"
	"github.com/bulkcat/bulkcat/pipeline/storage"
	"github.com/bulkcat/bulkcat/reader"
)

// takeDirect takes the operands of a command line without an output for inputs, unless they name files. The rows then go to
// standard output. The error is about an operand that is neither an input nor an existing file.
func (f *runFlags) takeDirect() error {
	direct := f.Output.Path == ""
	for _, arg := range f.input.Paths {
		switch {
		case webURL.MatchString(arg) && (!direct || lists.MatchString(arg)):
			return fmt.Errorf("%s is on the web, where no lists are read: download it first, as curl -LO does; to ask for this URL itself, write echo %s | bulkcat %s - -o %s", arg, shellQuote(arg), f.Kind, cmp.Or(f.Output.Path, "-"))
		case f.Output.Path != "":
		case isPath(arg):
			direct = false
		case f.Kind == client.Website && !isWebsite(arg):
			err := fmt.Errorf("%q is taken for the name of a file, which is not there", arg)
			if _, refused := websites.Request(client.Website, arg, ""); refused == nil { // it has a host with a dot, and is no placeholder
				err = fmt.Errorf("%w: to ask for a website, write https://%s", err, arg)
			}
			return err
		case f.Kind == client.Product && !isTitle(arg):
			return fmt.Errorf("%q is taken for the name of a file, which is not there: to ask for this title, write echo %s | bulkcat product - -o -", arg, shellQuote(arg))
		}
	}
	if direct {
		f.input.Records, f.input.Paths = reader.Inputs(slices.Values(f.input.Paths)), nil
		f.input.Join = "" // the default of --join is for files
		f.Output.Path, f.direct = "-", true
	}
	return nil
}

// isPath reports whether an operand names files: the file exists or its folder does, or the operand is a pattern or a URL of
// object storage.
func isPath(arg string) bool {
	if webURL.MatchString(arg) {
		return false
	}
	if arg == "-" || storage.IsURL(arg) || strings.ContainsAny(arg, "*[") || strings.HasSuffix(arg, "/") {
		return true
	}
	_, err := os.Stat(arg)
	if dir := filepath.Dir(arg); err != nil && dir != "." {
		_, err = os.Stat(dir)
	}
	return err == nil
}

// webURL matches the beginning of URLs that are inputs. Other URLs, such as s3://, name files in object storage.
var webURL = regexp.MustCompile(`(?i)^https?://`)

// lists matches names of lists. They include names in the top-level domain zip.
var lists = regexp.MustCompile(`(?i)\.(csv|tsv|txt|json|jsonl|ndjson|parquet|xlsx?|ods|xml|zip)(\.gz|\.zst)?$`)

var websites = normalize.Normalizer{Scheme: "https"}

// isWebsite reports whether an operand is a website and not the name of a file: it is a URL, or a host below a public suffix.
func isWebsite(arg string) bool {
	request, err := websites.Request(client.Website, arg, "")
	if err != nil {
		return false
	}
	website, err := url.Parse(request.Input)
	if err != nil || lists.MatchString(website.Path) {
		return false
	}
	if webURL.MatchString(arg) {
		return true
	}
	suffix, listed := publicsuffix.PublicSuffix(website.Hostname())
	return (listed || strings.Contains(suffix, ".")) && !lists.MatchString(website.Hostname())
}

// isTitle reports whether an operand is a title and not the name of a file: it has a blank.
func isTitle(arg string) bool {
	return strings.Contains(strings.TrimSpace(arg), " ") && !lists.MatchString(arg)
}
