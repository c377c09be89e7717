package storage

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"sync"
)

// Opener opens a bucket. The parameters are those of the URL.
type Opener func(ctx context.Context, name string, parameters url.Values) (Bucket, error)

var registry = struct {
	sync.Mutex
	schemes    map[string]Opener
	parameters map[string]url.Values // by "scheme://bucket"
	buckets    map[string]Bucket     // the same
}{
	schemes:    map[string]Opener{"s3": openS3},
	parameters: map[string]url.Values{},
	buckets:    map[string]Bucket{},
}

// Register adds an object storage for URLs with the scheme.
func Register(scheme string, open Opener) {
	registry.Lock()
	defer registry.Unlock()
	registry.schemes[scheme] = open
}

// IsURL reports whether a path is the URL of an object.
func IsURL(path string) bool {
	scheme, _, ok := strings.Cut(path, "://")
	return ok && scheme != "" && !strings.ContainsAny(scheme, "/\\.")
}

// parameters that a URL may end in. None is a secret.
var parameterNames = []string{"region", "endpoint", "profile", "use_path_style"}

// TakeParameters returns a URL without its parameters, which from then on hold for its bucket, and checks the URL.
// Other paths stay as they are.
func TakeParameters(path string) (string, error) {
	if !IsURL(path) {
		return path, nil
	}
	base, query := cutQuery(path)
	bucket, key, err := parse(base)
	if err != nil {
		return "", err
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return "", fmt.Errorf("%s: the parameters after the question mark cannot be read", base)
	}
	for name := range values {
		if !slices.Contains(parameterNames, name) {
			return "", fmt.Errorf("%s: unknown parameter %q after the question mark; known are %s", base, name, strings.Join(parameterNames, ", "))
		}
	}
	if strings.Trim(key, "/") == "" {
		return "", fmt.Errorf("%s is a bucket: name an object, a folder or a pattern in it", base)
	}
	registry.Lock()
	defer registry.Unlock()
	scheme, _, _ := strings.Cut(base, "://")
	if registry.schemes[scheme] == nil {
		return "", unknownScheme(base, scheme)
	}
	known, ok := registry.parameters[bucket]
	if ok && len(values) > 0 && len(known) > 0 && known.Encode() != values.Encode() {
		return "", fmt.Errorf("%s: the bucket has other parameters in another path", base)
	}
	if len(values) > 0 {
		registry.parameters[bucket] = values
		delete(registry.buckets, bucket)
	}
	return base, nil
}

// unknownScheme is the error of a scheme that is not registered. The caller holds the registry.
func unknownScheme(path, scheme string) error {
	known := strings.Join(slices.Sorted(maps.Keys(registry.schemes)), ", ")
	if scheme == "gs" || scheme == "azblob" {
		known += "; programs that are built with -tags clouds also know gs and azblob"
	}
	return fmt.Errorf("%s: unknown storage %s (known: %s)", path, scheme, known)
}

// cutQuery returns a URL without its parameters, and the parameters. Another question mark is part of a pattern.
func cutQuery(path string) (base, query string) {
	base, query, found := strings.Cut(path, "?")
	for at := len(base); found; at += 1 + len(base) {
		name, _, assigned := strings.Cut(query, "=")
		if assigned && name != "" && strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_ABCDEFGHIJKLMNOPQRSTUVWXYZ-") == "" {
			return path[:at], query
		}
		base, query, found = strings.Cut(query, "?")
	}
	return path, ""
}

// parse splits a URL into "scheme://bucket" and the key.
func parse(path string) (bucket, key string, err error) {
	scheme, rest, ok := strings.Cut(path, "://")
	name, key, _ := strings.Cut(rest, "/")
	switch {
	case !ok || name == "":
		return "", "", fmt.Errorf("%s names no bucket: give SCHEME://BUCKET/KEY", path)
	case strings.Contains(name, "@"):
		return "", "", fmt.Errorf("a URL of %s must not have credentials: set them in the environment", scheme)
	}
	return scheme + "://" + name, key, nil
}

// open returns the bucket and the key of a URL that TakeParameters has returned.
func open(ctx context.Context, path string) (Bucket, string, error) {
	name, key, err := parse(path)
	if err != nil {
		return nil, "", err
	}
	registry.Lock()
	defer registry.Unlock()
	if b := registry.buckets[name]; b != nil {
		return b, key, nil
	}
	scheme, bucket, _ := strings.Cut(name, "://")
	opener := registry.schemes[scheme]
	if opener == nil {
		return nil, "", unknownScheme(path, scheme)
	}
	b, err := opener(ctx, bucket, registry.parameters[name])
	if err != nil {
		return nil, "", fmt.Errorf("open %s: %w", name, err)
	}
	registry.buckets[name] = guard(b)
	return registry.buckets[name], key, nil
}
