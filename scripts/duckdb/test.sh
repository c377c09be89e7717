#!/usr/bin/env bash
# Writes the samples as Parquet and CSV and has DuckDB compare the two:
# scripts/duckdb/test.sh BULKCAT
set -euo pipefail
bulkcat=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
cd "$here/../.."

modules=$here/node_modules
[ -d "$modules/@duckdb/node-api" ] || npm install --prefix "$here" --no-audit --no-fund --loglevel=error

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

# categorize NAME COMMAND INPUT FLAG...: every format; the samples have bad rows on purpose, so 3 is right
categorize() {
  local name=$1 command=$2 input=$3 status
  shift 3
  for output in "$out/$name.parquet" "$out/$name.csv" "$out/$name/"; do
    status=0
    "$bulkcat" "$command" "$input" -o "$output" --fetch never --quiet "$@" || status=$?
    [ "$status" = 3 ] || { echo "$name: exit status $status, want 3"; exit 1; }
  done
}
categorize websites website testdata/websites.csv --part-rows 100
categorize industries website testdata/websites.csv --classification naics --part-rows 100
categorize products product testdata/products.jsonl --part-rows 100

node "$here/compare.mjs" "$out" websites industries products
