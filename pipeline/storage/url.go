package storage

import (
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/bulkcat/bulkcat/writer/disk"
)

// IsURL reports whether a path is the URL of an object.
func IsURL(path string) bool { return disk.IsURL(path) }

// parameters that a URL may end in. None is a secret.
var parameterNames = []string{"region", "endpoint", "profile", "use_path_style"}

// TakeParameters checks a URL, sets the parameters of its bucket in o, and returns the URL without its parameters. It returns
// other paths unchanged.
func (o *Objects) TakeParameters(path string) (string, error) {
	if !IsURL(path) {
		return path, nil
	}
	base, parameters := path, ""
	if at := query.FindStringIndex(path); at != nil {
		base, parameters = path[:at[0]], path[at[0]+1:]
	}
	bucket, key, err := parse(base)
	if err != nil {
		return "", err
	}
	values, err := url.ParseQuery(parameters)
	if err != nil {
		return "", fmt.Errorf("%s: the parameters after the question mark cannot be read", base)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.Contains(parameterNames, name) {
			return "", fmt.Errorf("%s: unknown parameter %q after the question mark; known are %s", base, name, strings.Join(parameterNames, ", "))
		}
	}
	if strings.Trim(key, "/") == "" {
		return "", fmt.Errorf("%s is a whole bucket: add the name of a file in it, as in %s/lists/today.csv, or of a folder, as in %s/results/", base, bucket, bucket)
	}
	p := o.place(bucket)
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(values) == 0:
	case len(p.parameters) > 0 && p.parameters.Encode() != values.Encode():
		return "", fmt.Errorf("%s: the bucket has other parameters in another path", base)
	default:
		p.parameters, p.bucket = values, nil
	}
	return base, nil
}

// insteadOf has the advice about schemes that are no storage, or not in this program.
var insteadOf = map[string]string{
	"http":   "nothing is read from the web or written to it: download a list first, as curl -LO does, and name the file",
	"https":  "nothing is read from the web or written to it: download a list first, as curl -LO does, and name the file",
	"file":   "name a local file by its path alone, as in /data/list.csv",
	"s3":     "write s3:// in small letters",
	"s3a":    "write s3://, which reads the same objects",
	"s3n":    "write s3://, which reads the same objects",
	"gs":     "only programs that are built with -tags clouds know gs and azblob",
	"azblob": "only programs that are built with -tags clouds know gs and azblob",
}

// unknownScheme returns the error of a scheme that is not registered.
func unknownScheme(path, scheme string) error {
	if advice := insteadOf[strings.ToLower(scheme)]; advice != "" {
		return fmt.Errorf("%s: %s", path, advice)
	}
	return fmt.Errorf("%s: unknown storage %s (known: %s)", path, scheme, strings.Join(slices.Sorted(maps.Keys(schemes)), ", "))
}

// query matches the beginning of the parameters of a URL. Other question marks belong to a pattern.
var query = regexp.MustCompile(`\?[A-Za-z_-]+=`)

// parse splits a URL of a known storage into "scheme://bucket" and the key.
func parse(path string) (bucket, key string, err error) {
	scheme, rest, _ := strings.Cut(path, "://")
	name, key, _ := strings.Cut(rest, "/")
	switch {
	case schemes[scheme] != nil && name == "":
		return "", "", fmt.Errorf("%s names no bucket: write %s://BUCKET/FILE, as in %[2]s://shop/lists/today.csv", path, scheme)
	case strings.Contains(name, "@"):
		return "", "", fmt.Errorf("a URL of %s must not have credentials: set them in the environment", scheme)
	}
	if schemes[scheme] == nil {
		return "", "", unknownScheme(path, scheme)
	}
	return scheme + "://" + name, key, nil
}
