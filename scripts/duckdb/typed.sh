#!/usr/bin/env bash
# Writes typed lists, which other programs wrote, into DIR: scripts/duckdb/typed.sh BULKCAT DIR
#
#   typed/NAME.source            the path of the list
#   typed/NAME.parquet, .top.parquet, .nested.parquet, .jsonl.out, .nested.jsonl
set -euo pipefail
bulkcat=$(realpath "$1")
out=$(realpath "$2")/typed
cd "$(dirname "$0")/../.."
mkdir "$out"

# The first 1,000 records of a JSON file decide on the types, so there are more, of other types.
{
  echo '{"url":"a.example","whole":9007199254740993,"number":1.5,"yes":true,"text":"","list":[1,{"k":"é"}],"shop":{"rank":3},"nothing":null,"mixed":1}'
  echo '{"url":"b.example","whole":-1,"number":2,"yes":false,"text":null,"list":null,"shop":{},"nothing":null,"mixed":"1"}'
  for _ in $(seq 1000); do echo '{"url":"c.example","whole":0,"number":1e-3,"yes":true,"text":"null","list":[],"mixed":2}'; done
  echo '{"url":"d.example","whole":1.5,"number":"many","yes":0,"text":5,"list":"none","mixed":null}'
} > "$out/list.jsonl"

write() {
  local output=$1 status=0
  shift
  "$bulkcat" website "$@" -o "$output" --fetch never --quiet 2> "$out/log" || status=$?
  [ "$status" = 0 ] || [ "$status" = 3 ] || { cat "$out/log"; echo "$output: exit status $status"; exit 1; }
}

for source in "$out/list.jsonl" reader/testdata/parquet/{types,pyarrow-zstd,pyarrow-int96,pandas,polars,duckdb,duckdb-v2}.parquet reader/testdata/parquet/spark; do
  name=$(basename "$source")
  name=${name%.*}
  realpath "$source" > "$out/$name.source"
  columns=all
  [ "$name" != list ] || columns=whole,number,yes,text,list,shop.rank,nothing,mixed
  write "$out/$name.parquet" "$source" --carry "$columns"
  write "$out/$name.top.parquet" "$source" --carry "$columns" --shape top
  write "$out/$name.nested.parquet" "$source" --carry "$columns" --shape nested
  write "$out/$name.jsonl.out" "$source" --carry "$columns" --shape top --output-format jsonl
  write "$out/$name.nested.jsonl" "$source" --carry "$columns" --shape nested
done
