#!/usr/bin/env bash
# Writes the samples in all shapes and has pyarrow, pandas and Polars read them back and compare them:
# scripts/pyarrow/test.sh BULKCAT
set -euo pipefail
bulkcat=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
python3 -m venv "$out/venv"
"$out/venv/bin/pip" install --quiet --disable-pip-version-check -r "$here/requirements.txt"
"$here/../duckdb/samples.sh" "$bulkcat" "$out"
"$here/../duckdb/typed.sh" "$bulkcat" "$out"
"$out/venv/bin/python" "$here/typed.py" "$out"
status=0
"$bulkcat" website "$here/../../testdata/websites.csv" -o "$out/sourced.parquet" --fetch never --quiet --source-columns --shape nested 2> "$out/log" || status=$?
[ "$status" = 3 ] || { cat "$out/log"; exit 1; }
"$out/venv/bin/python" "$here/compare.py" "$out" websites industries both sure products
