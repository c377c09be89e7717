#!/usr/bin/env bash
# Writes the samples in all shapes as Parquet, CSV and JSONL and has DuckDB compare them, and compares diff, report and
# top with the same joins and aggregates in DuckDB:
# scripts/duckdb/test.sh BULKCAT
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
modules=$here/node_modules
[ -d "$modules/@duckdb/node-api" ] || npm install --prefix "$here" --no-audit --no-fund --loglevel=error

out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
"$here/samples.sh" "$1" "$out"
"$here/typed.sh" "$1" "$out"
node "$here/typed.mjs" "$out"
node "$here/compare.mjs" "$out" websites industries both sure products
node "$here/results.mjs" "$(realpath "$1")" "$out" websites both sure products
