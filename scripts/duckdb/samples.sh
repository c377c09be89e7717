#!/usr/bin/env bash
# Writes the samples in all shapes into DIR: scripts/duckdb/samples.sh BULKCAT DIR
#
#   NAME.parquet, NAME.csv, NAME/                           the shape long
#   NAME.top.parquet, NAME.top.csv, NAME.top/               the shape top
#   NAME.nested.parquet, NAME.nested.jsonl, NAME.nested/    the shape nested
#
# The names are websites, industries, both (classifications), sure (with --top and --min-confidence) and products.
set -euo pipefail
bulkcat=$(realpath "$1")
out=$2
cd "$(dirname "$0")/../.."

# write OUTPUT COMMAND INPUT FLAG...: the samples have bad rows on purpose, so exit status 3 is right
write() {
  local output=$1 command=$2 input=$3 status=0
  shift 3
  "$bulkcat" "$command" "$input" -o "$output" --fetch never --quiet --part-rows 100 "$@" 2> "$out/log" || status=$?
  [ "$status" = 3 ] || { cat "$out/log"; echo "$output: exit status $status, want 3"; exit 1; }
}

# categorize NAME COMMAND INPUT FLAG...: every shape and format
categorize() {
  local name=$out/$1
  shift
  for output in "$name.parquet" "$name.csv" "$name/"; do write "$output" "$@"; done
  for output in "$name.top.parquet" "$name.top.csv" "$name.top/"; do write "$output" "$@" --shape top; done
  for output in "$name.nested.parquet" "$name.nested.jsonl" "$name.nested/"; do write "$output" "$@" --shape nested; done
}
categorize websites website testdata/websites.csv
categorize industries website testdata/websites.csv --classification naics
categorize both website testdata/websites.csv --classification taxonomy_v3,naics --carry none
categorize sure website testdata/websites.csv --top 3 --min-confidence 0.5
categorize products product testdata/products.jsonl
