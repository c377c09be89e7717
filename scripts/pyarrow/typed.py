"""Compares the types and the values of carried columns in the files of typed.sh with their source: typed.py DIR"""

import decimal
import json
import pathlib
import sys

import pyarrow as pa
import pyarrow.parquet as pq

TYPES_OF_JSON = {
    "whole": pa.int64(), "number": pa.float64(), "yes": pa.bool_(), "text": pa.string(), "list": pa.string(),
    "shop.rank": pa.int64(), "nothing": pa.string(), "mixed": pa.string(),
}


def same(what, got, want):
    if got != want and not (got != got and want != want):  # NaN
        sys.exit(f"{what}: got {got!r}, want {want!r}")


def expected(t):
    """The type of a carried column."""
    if t == pa.uint64():
        return pa.decimal128(20, 0)
    if pa.types.is_integer(t):
        return pa.int64()
    if pa.types.is_floating(t):
        return pa.float64()
    if pa.types.is_timestamp(t):
        return pa.timestamp(t.unit, "UTC" if t.tz else None)
    if pa.types.is_date(t):
        return pa.date32()
    if pa.types.is_decimal(t) or pa.types.is_boolean(t):
        return t
    return pa.string()


def compare_value(what, got, want, t):
    if want is None:
        same(what, got, None)
    elif pa.types.is_map(t):
        same(what, json.loads(got).keys(), {str(k) for k, _ in want})
    elif pa.types.is_nested(t):
        same(what, json.loads(got), want)
    elif pa.types.is_time(t):
        same(what, got, want.isoformat().rstrip("0"))
    elif pa.types.is_binary(t) or pa.types.is_fixed_size_binary(t):
        same(what, isinstance(got, str), True)
    elif pa.types.is_float32(t):
        same(what, pa.scalar(got, pa.float32()), pa.scalar(want, pa.float32()))
    else:
        same(what, got, want)


def read_source(path):
    if path.suffix == ".jsonl":
        return None
    return pq.read_table(path, coerce_int96_timestamp_unit="us")


def compare_json(what, table, lines):
    """JSON has numbers, booleans and null where Parquet has them, and text for other types."""
    for row, line in zip(table.to_pylist(), lines, strict=True):
        record = json.loads(line, parse_float=decimal.Decimal)
        for name, value in row.items():
            got, place = record[name], f"{what}: record {row['record']}: {name}"
            t = table.schema.field(name).type
            if value is None or value != value:
                continue  # null, a value that JSONL keeps, or NaN
            if pa.types.is_temporal(t):
                same(place, isinstance(got, str), True)
            elif pa.types.is_floating(t):
                same(place, float(got), value)
            else:
                same(place, got, value)


folder = pathlib.Path(sys.argv[1]) / "typed"
for note in sorted(folder.glob("*.source")):
    base, source = str(note).removesuffix(".source"), read_source(pathlib.Path(note.read_text().strip()))
    types = TYPES_OF_JSON if source is None else {f.name: expected(f.type) for f in source.schema}
    for shape in ("", ".top", ".nested"):
        table = pq.read_table(f"{base}{shape}.parquet")
        got = {f.name: f.type for f in table.schema if f.name in types}
        same(f"{base}{shape}: types", got, types)
        same(f"{base}{shape}: rows", table.num_rows > 0, True)
        if source is None:
            continue
        want = source.to_pylist()
        for row in table.to_pylist():
            for field in source.schema:
                place = f"{base}{shape}: record {row['record']}: {field.name}"
                compare_value(place, row[field.name], want[row["record"] - 1][field.name], field.type)
    top = pq.read_table(f"{base}.top.parquet")
    with open(f"{base}.jsonl.out", encoding="utf-8") as lines:
        compare_json(f"{base}.jsonl.out", top, list(lines))
    nested = pq.read_table(f"{base}.nested.parquet", columns=["record", *types])
    with open(f"{base}.nested.jsonl", encoding="utf-8") as lines:
        compare_json(f"{base}.nested.jsonl", nested, list(lines))
    print(f"{pathlib.Path(base).name}: {len(types)} carried columns have their types and values in all shapes")

first, second, *_, last = pq.read_table(folder / "list.top.parquet", columns=list(TYPES_OF_JSON)).to_pylist()
same("the first record", first, {
    "whole": 9007199254740993, "number": 1.5, "yes": True, "text": "", "list": '[1,{"k":"é"}]', "shop.rank": 3, "nothing": None, "mixed": "1",
})
same("the second record", second, {
    "whole": -1, "number": 2.0, "yes": False, "text": None, "list": None, "shop.rank": None, "nothing": None, "mixed": "1",
})
same("a record of other types", last, {
    "whole": None, "number": None, "yes": None, "text": "5", "list": "none", "shop.rank": None, "nothing": None, "mixed": None,
})
kept = json.loads((folder / "list.jsonl.out").read_text(encoding="utf-8").splitlines()[-1])
same("JSONL keeps it", {name: kept[name] for name in TYPES_OF_JSON}, last | {"whole": 1.5, "number": "many", "yes": "0"})
account = json.loads((folder / "list.top.parquet.run.json").read_text(encoding="utf-8"))
same("the account counts it", account["counts"]["misfits"], 3)
