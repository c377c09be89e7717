#!/usr/bin/env bash
# Builds the archives of a release into bin/release, with checksums and the notes from
# CHANGELOG.md: scripts/release.sh VERSION. The man pages are in bin/man already.
set -euo pipefail
version=$1
cd "$(dirname "$0")/.."
out=bin/release
rm -rf "$out"
mkdir -p "$out"

# The section of the version without its heading.
awk -v version="${version#v}" '
  /^## / { inside = ($2 == version || $2 == "[" version "]"); next }
  inside' CHANGELOG.md > "$out/NOTES.md"
[ -s "$out/NOTES.md" ] || { echo "release: CHANGELOG.md has no section \"## ${version#v}\"" >&2; exit 1; }

for platform in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64 windows/amd64 windows/arm64; do
  os=${platform%/*} arch=${platform#*/}
  name=bulkcat_${version#v}_${os}_${arch}
  folder=$out/$name
  mkdir "$folder"
  GOOS=$os GOARCH=$arch make --no-print-directory build VERSION="$version" BIN="$folder/bulkcat$(GOOS=$os go env GOEXE)"
  cp -r LICENSE README.md CHANGELOG.md bin/man "$folder"
  tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}" \
    -C "$out" -czf "$out/$name.tar.gz" "$name"
  rm -r "$folder"
done
(cd "$out" && sha256sum ./*.tar.gz | sed 's,\./,,' > SHA256SUMS)
