#!/usr/bin/env bash
# Categorizes the sample websites and products with the embedded service and shows the first rows and the largest
# categories: scripts/demo/demo.sh BULKCAT. Needs no network: pages are not read.
set -euo pipefail
bulkcat=$1
out=demo-out
cd "$(dirname "$0")/../.."
mkdir -p "$out"

echo "The samples hold rows that cannot be asked, on purpose (see testdata/README.md):"
echo "bulkcat marks these as invalid, says why, and ends with exit status 3."
echo

categorize() {
  local status=0
  echo "\$ bulkcat $*"
  "$bulkcat" "$@" --fetch never || status=$?
  [ "$status" = 0 ] || [ "$status" = 3 ] || exit "$status"
  echo
}
for format in parquet csv; do
  categorize website testdata/websites.csv -o "$out/websites.$format"
  categorize product testdata/products.jsonl -o "$out/products.$format"
done
for name in websites products; do
  echo "The first rows of $out/$name.csv:"
  head -n 12 "$out/$name.csv" | cut -c 1-120
  echo
  echo "\$ bulkcat top $out/$name.parquet"
  "$bulkcat" top "$out/$name.parquet"
  echo
done
