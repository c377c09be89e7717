"""Compares listings of Parquet files, a line of JSON each, with what pyarrow and DuckDB read. See parquet.go."""
import base64
import datetime
import decimal
import json
import math
import re
import struct
import sys
import uuid

import duckdb
import numpy
import pyarrow as pa
import pyarrow.parquet as pq

duckdb.sql("set enable_progress_bar = false")  # it would be printed among the results
units = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}


def instant(text, unit):
    """The number of units since 1970 of a date and time."""
    return int(numpy.datetime64(text.removesuffix("Z"), unit).astype("int64"))


def of_day(text, unit):
    hours, minutes, seconds = text.split(":")
    return int((decimal.Decimal(seconds) + 60 * int(minutes) + 3600 * int(hours)) * units[unit])


def is_text(data):
    try:
        return not re.search(r"[\x00-\x08\x0e-\x1f\x7f]", data.decode())
    except UnicodeDecodeError:
        return False


def same_bytes(text, data):
    return text == data.decode("utf-8", "replace") or text == base64.standard_b64encode(data).decode()


def same_float(text, value, form):
    if math.isnan(value) or text.lower() == "nan":
        return math.isnan(value) and text.lower() == "nan"
    try:
        return struct.pack(form, float(text)) == struct.pack(form, value) or float(text) == value
    except OverflowError:
        return False


def same(found, scalar):
    """Reports whether a field, or a value of the JSON of a nested field, is the value of a scalar of Arrow."""
    if isinstance(scalar, pa.ExtensionScalar):
        if str(scalar.type) == "extension<arrow.uuid>":
            return found == str(uuid.UUID(bytes=scalar.value.as_py()))
        scalar = scalar.value
    if isinstance(scalar, pa.DictionaryScalar):
        scalar = scalar.value
    if not scalar.is_valid or pa.types.is_null(scalar.type):
        return found is None or found == ""
    if found is None:
        return False
    t = scalar.type
    if pa.types.is_struct(t):
        found = json.loads(found) if isinstance(found, str) else found
        return len(found) == t.num_fields and all(same(found[f.name], scalar[f.name]) for f in t)
    if pa.types.is_map(t):
        found = json.loads(found) if isinstance(found, str) else found
        entries = scalar.values if scalar.values is not None else []
        if isinstance(found, list):
            return len(found) == len(entries)
        pairs = list(found.items())
        last = {}
        for entry in entries:
            last[entry["key"].as_py() if not isinstance(entry["key"].as_py(), bytes) else entry["key"].as_py().decode()] = entry["value"]
        return len(pairs) == len(last) and all(same(v, last[k2]) for (_, v), k2 in zip(pairs, last))
    if pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t):
        found = json.loads(found) if isinstance(found, str) else found
        return len(found) == len(scalar.values) and all(same(a, b) for a, b in zip(found, scalar.values))
    text = found if isinstance(found, str) else json.dumps(found)
    if pa.types.is_boolean(t):
        return text == ("true" if scalar.as_py() else "false")
    if pa.types.is_integer(t):
        return int(text) == scalar.as_py()
    if pa.types.is_floating(t):
        return same_float(text, float(scalar.as_py()), {16: "<e", 32: "<f", 64: "<d"}[t.bit_width])
    if pa.types.is_decimal(t):
        return decimal.Decimal(text) == scalar.as_py()
    if pa.types.is_timestamp(t):
        return instant(text, t.unit) == scalar.value
    if pa.types.is_date(t):
        return instant(text, "D") == (scalar.value if t == pa.date32() else scalar.value // 86400000)
    if pa.types.is_time(t):
        return of_day(text, t.unit) == scalar.value
    if pa.types.is_binary(t) or pa.types.is_large_binary(t) or pa.types.is_fixed_size_binary(t):
        return same_bytes(text, scalar.as_py())
    value = scalar.as_py()
    return text == value or json.loads(text) == json.loads(value)


def difference(listing, table):
    """Returns the first difference of a listing from a table; None if there is none."""
    if len(listing["rows"] or []) != table.num_rows:
        return f"{len(listing['rows'] or [])} rows, want {table.num_rows}"
    for i, name in enumerate(listing["columns"]):
        if name not in table.column_names:
            continue  # a part that was named as the input
        for row, value in enumerate(table.column(name)):
            found = listing["rows"][row][i]
            try:
                if same(found, value):
                    continue
            except Exception as error:
                return f"row {row + 1}, {name}: {found!r}: {error!r}"
            return f"row {row + 1}, {name}: {found!r}, want {getattr(value, 'value', value)}"


def by_pyarrow(path):
    return pq.ParquetFile(path, coerce_int96_timestamp_unit="us").read()


def by_duckdb(path):
    return duckdb.sql(f"from read_parquet('{path}')").to_arrow_table()


for line in sys.stdin:
    listing = json.loads(line)
    notes, read, agreed = [], [], []
    for read_by in (by_pyarrow, by_duckdb):
        name = read_by.__name__.removeprefix("by_")
        try:
            table = read_by(listing["path"])
        except BaseException as error:
            notes.append(f"{name} refuses: {str(error).splitlines()[0][:100]}")
            continue
        read.append(name)
        found = None if listing["error"] else difference(listing, table)
        if found:
            notes.append(f"{name}: {found}")
        else:
            agreed.append(name)
    if listing["error"]:
        verdict = "refused" if read else "agrees"
        notes.insert(0, f"{listing['error']} ({', '.join(read)} reads the file)")
    else:
        verdict = "agrees" if agreed else "differs"
    print(json.dumps({"path": listing["path"], "verdict": verdict, "detail": "; ".join(notes)[:500]}))
