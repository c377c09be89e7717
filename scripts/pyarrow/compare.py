"""Compares the files of samples.sh in DIR row by row and type by type: compare.py DIR NAME..."""

import json
import re
import sys

import pandas
import polars
import pyarrow as pa
import pyarrow.csv
import pyarrow.dataset
import pyarrow.parquet as pq

MEMBER = re.compile(r"rank|value|category_id|title|confidence|level_\d+")
REQUIRED = {"record", "status", "classification", "categories"}


def same(what, got, want):
    if got != want:
        sys.exit(f"{what}: got {str(got)[:2000]}, want {str(want)[:2000]}")


def type_of(name):
    return {"record": pa.int64(), "rank": pa.int64(), "confidence": pa.float64()}.get(name, pa.string())


def field(name, required=REQUIRED):
    return pa.field(name, type_of(name), nullable=name not in required)


def long_schema(names):
    return pa.schema([field(name) for name in names])


def nested_schema(names):
    end = names.index("error")
    members = [field(name, {"rank"}) for name in names[4:end]]
    same("members", [m.name for m in members if not MEMBER.fullmatch(m.name)], [])
    categories = pa.field("categories", pa.list_(pa.field("element", pa.struct(members), nullable=False)), nullable=False)
    return pa.schema([field(n) for n in names[:4]] + [categories] + [field(n) for n in names[end:]])


def check_file(path, schema, shape):
    """Compares the types and the metadata of a Parquet file, and returns its rows."""
    file = pq.ParquetFile(path)
    same(f"{path}: types", file.schema_arrow.remove_metadata(), schema)
    keys = {k.decode(): v.decode() for k, v in file.metadata.metadata.items() if k.startswith(b"bulkcat.")}
    same(f"{path}: bulkcat.format", keys.get("bulkcat.format"), "2")
    same(f"{path}: bulkcat.shape", keys.get("bulkcat.shape"), shape)
    for i in range(file.metadata.num_row_groups):
        group = file.metadata.row_group(i)
        same(f"{path}: sorting", group.sorting_columns, (pq.SortingColumn(0, descending=False, nulls_first=False),))
        record = group.column(0)
        same(f"{path}: first column", record.path_in_schema, "record")
        if not record.has_offset_index or not record.statistics.has_min_max:
            sys.exit(f"{path}: the row group has no page index or no bounds of the records")
    table = file.read()
    records = table["record"].to_pylist()
    same(f"{path}: the records are in order", records, sorted(records))
    return table


def check_folder(path, table):
    """Reads a folder as each engine reads a dataset: the helper files are passed over."""
    rows = table.to_pylist()
    same(f"{path}: pyarrow", pa.dataset.dataset(path).to_table().to_pylist(), rows)
    same(f"{path}: pandas", len(pandas.read_parquet(path)), len(rows))
    same(f"{path}: polars", polars.read_parquet(path + "/*.parquet").to_dicts(), rows)


def read_csv(path, schema):
    options = pa.csv.ConvertOptions(column_types={f.name: f.type for f in schema}, strings_can_be_null=True, null_values=[""])
    return pa.csv.read_csv(path, parse_options=pa.csv.ParseOptions(newlines_in_values=True), convert_options=options).to_pylist()


def blank(table):
    """The rows as CSV has them, which does not distinguish empty text from null."""
    return [{name: None if value == "" else value for name, value in row.items()} for row in table.to_pylist()]


def first_rows(rows):
    seen = {}
    for row in rows:
        seen.setdefault((row["record"], row["classification"]), row)
    return list(seen.values())


def flatten(rows, names):
    members = names[4 : names.index("error")]
    flat = []
    for row in rows:
        for category in row["categories"] or [{}]:
            flat.append({n: category.get(n) if n in members else row[n] for n in names})
    return flat


folder, *samples = sys.argv[1:]
for name in samples:
    base = f"{folder}/{name}"
    names = pq.read_schema(base + ".parquet").names
    long = check_file(base + ".parquet", long_schema(names), "long")
    same(f"{name}: CSV", read_csv(base + ".csv", long.schema), blank(long))
    check_folder(base, long)

    top = check_file(base + ".top.parquet", long_schema(names), "top")
    same(f"{name}: CSV of the shape top", read_csv(base + ".top.csv", long.schema), blank(top))
    same(f"{name}: the shape top and the first rows", top.to_pylist(), first_rows(long.to_pylist()))
    check_folder(base + ".top", top)

    nested = check_file(base + ".nested.parquet", nested_schema(names), "nested")
    with open(base + ".nested.jsonl", encoding="utf-8") as lines:
        same(f"{name}: JSONL of the shape nested", [json.loads(line) for line in lines], nested.to_pylist())
    same(f"{name}: the shape nested, flattened, and long", flatten(nested.to_pylist(), names), long.to_pylist())
    check_folder(base + ".nested", nested)
    exploded = polars.read_parquet(base + ".nested/*.parquet").explode("categories", empty_as_null=True).unnest("categories").select(names)
    same(f"{name}: the shape nested, flattened by Polars, and long", exploded.to_dicts(), long.to_pylist())
    same(f"{name}: the shape nested, flattened by pandas", len(pandas.read_parquet(base + ".nested").explode("categories")), len(long))
    print(f"{name}: {len(long)} rows long, {len(top)} top, {len(nested)} nested, equal in all formats")

sourced = pq.read_schema(f"{folder}/sourced.parquet")
same("answered_at", sourced.field("answered_at").type, pa.timestamp("us", tz="UTC"))
same("source", sourced.field("source").type, pa.string())
