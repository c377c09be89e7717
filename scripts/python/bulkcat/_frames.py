"""Takes the input columns out of frames, and puts the columns of categories into them, by the position of a row.

Each kind of frame is a class with the same four methods. The libraries are imported by those who have their frames.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import re
import reprlib
import secrets
import sys
from collections.abc import Iterable
from numbers import Integral
from typing import TYPE_CHECKING, Any

from bulkcat._answer import Answer
from bulkcat._errors import Error, UsageError
from bulkcat._flags import encodable

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = 16  # of the digest of a frame

# Rows are sent in batches of so many, so that a long frame is not copied as a whole.
_BATCH = 1 << 17

# The columns of lines of JSON without a line, which name no levels.
_NAMES = ("record", "status", "classification", "rank", "value", "category_id", "confidence", "categories", "error")

Columns = dict[str, Any]  # of categories by name: arrays of pyarrow, or lists


class Texts(list[str | None]):
    """Texts of the program, also if all of them are null."""


def typed(name: str, values: Any) -> Any:
    """Return the values of a column of the program, with lists of texts as Texts."""
    numbers = ("record", "rank", "confidence", "categories")
    return Texts(values) if isinstance(values, list) and name not in numbers else values


class Frame:
    """The methods of all kinds of frames."""

    ignores_case = False  # names that differ only in case are one name
    categorical = False  # new columns of texts are categories

    def __init__(self, data: Any) -> None:
        self.data = data

    def names(self) -> list[Any]:
        """Return the names of the columns."""
        raise NotImplementedError

    def length(self) -> int:
        """Return the number of rows."""
        return len(self.data)

    def values(self, column: Any, start: int, stop: int) -> Any:
        """Return values of a column: a list of objects, or a form that pyarrow and list() take."""
        raise NotImplementedError

    def extended(self, columns: Columns) -> Any:
        """Return the frame with columns for its rows. Takes the columns out of the dict, so that they need no memory twice."""
        raise NotImplementedError

    def made(self, columns: Columns) -> Any:
        """Return a frame of the same kind with these columns alone. Takes the columns out of the dict, too."""
        raise NotImplementedError


class PandasFrame(Frame):
    """A pandas.DataFrame, or a Series, which becomes the first column."""

    def __init__(self, data: Any) -> None:
        super().__init__(data.to_frame("input" if data.name is None else data.name) if data.ndim == 1 else data)

    def names(self) -> list[Any]:
        return list(self.data.columns)

    def values(self, column: Any, start: int, stop: int) -> Any:
        import pandas as pd

        values = self.data.iloc[start:stop, self.names().index(column)]
        mixed = values.dtype == object and pd.api.types.infer_dtype(values, skipna=True) != "string"
        return values.tolist() if mixed else values  # pyarrow would guess a type, and crashes with some nulls of NumPy

    def extended(self, columns: Columns) -> Any:
        levels = self.data.columns.nlevels
        if levels == 1:
            return self.data.assign(**self._arrays(columns))
        import pandas as pd

        new = pd.DataFrame(self._arrays(columns), index=self.data.index)
        new.columns = pd.MultiIndex.from_tuples([(name, *[""] * (levels - 1)) for name in new], names=self.data.columns.names)
        return pd.concat([self.data, new], axis=1)

    def made(self, columns: Columns) -> Any:
        import pandas as pd

        return pd.DataFrame(self._arrays(columns))

    def _arrays(self, columns: Columns) -> Columns:
        return {name: self._array(columns.pop(name)) for name in list(columns)}

    def _array(self, values: Any) -> Any:
        """Values without an index, by which pandas would align them."""
        import pandas as pd

        if not isinstance(values, list) and str(values.type).startswith("list"):
            values = values.to_pylist()
        if not isinstance(values, list):
            integers = {values.type: pd.Int64Dtype()}.get if str(values.type) == "int64" else None  # with nulls
            return values.to_pandas(types_mapper=integers).array
        if isinstance(values, Texts):
            return pd.Categorical(values) if self.categorical else pd.Series(values, dtype=pd.Series([""]).dtype).array
        lists, numbers = (any(isinstance(v, kind) for v in values) for kind in (list, int))
        return pd.Series(values, dtype="object" if lists else "Int64" if numbers else "float64").array


class PolarsFrame(Frame):
    """A polars.DataFrame, a LazyFrame, which is collected, or a Series."""

    def __init__(self, data: Any) -> None:
        import polars as pl

        self._lazy = isinstance(data, pl.LazyFrame)
        if isinstance(data, pl.Series):
            data = data.rename(data.name or "input").to_frame()
        super().__init__(data.collect() if self._lazy else data)

    def names(self) -> list[Any]:
        return list(self.data.columns)

    def values(self, column: Any, start: int, stop: int) -> Any:
        import polars as pl

        values = self.data[column][start:stop]
        if values.dtype in (pl.Categorical, pl.Enum) or values.dtype.is_integer():
            values = values.cast(pl.String)
        return values.to_arrow() if _has_pyarrow() and values.dtype in (pl.String, pl.Null) else values.to_list()

    def extended(self, columns: Columns) -> Any:
        data = self.data.with_columns([self._series(name, values) for name, values in columns.items()])
        return data.lazy() if self._lazy else data

    def made(self, columns: Columns) -> Any:
        import polars as pl

        data = pl.DataFrame([self._series(name, values) for name, values in columns.items()])
        return data.lazy() if self._lazy else data

    def _series(self, name: str, values: Any) -> Any:
        import polars as pl

        if not isinstance(values, list):
            series = pl.from_arrow(values)
            assert isinstance(series, pl.Series)
            return series.alias(name)
        if isinstance(values, Texts):
            return pl.Series(name, values, dtype=pl.Categorical if self.categorical else pl.String)
        entries = (entry for value in values if isinstance(value, list) for entry in value)
        if names := next(entries, None):  # Polars would infer the types of the members from the first values
            numbers = {"rank": pl.Int64, "confidence": pl.Float64}
            return pl.Series(name, values, dtype=pl.List(pl.Struct({n: numbers.get(n, pl.String) for n in names})))
        return pl.Series(name, values, dtype=None if any(v is not None for v in values) else pl.Float64)


class ArrowFrame(Frame):
    """A table, a reader, a record batch, an array or a dataset of pyarrow, or what gives a stream of Arrow.

    The result is a table, or a record batch.
    """

    def __init__(self, data: Any) -> None:
        import pyarrow as pa

        if isinstance(data, (pa.Array, pa.ChunkedArray)):
            data = pa.table({"input": data})
        elif hasattr(data, "to_table"):  # a dataset or a scanner
            data = data.to_table()
        self._is_batch = isinstance(data, pa.RecordBatch)
        if self._is_batch:
            data = pa.Table.from_batches([data])
        elif not isinstance(data, pa.Table):
            data = pa.RecordBatchReader.from_stream(data).read_all()
        super().__init__(data)

    def names(self) -> list[Any]:
        return list(self.data.column_names)

    def values(self, column: Any, start: int, stop: int) -> Any:
        return self.data.column(self.names().index(column)).slice(start, stop - start)

    def extended(self, columns: Columns) -> Any:
        data = self.data
        for name, values in columns.items():
            data = data.append_column(name, values)
        return self._made(data)

    def made(self, columns: Columns) -> Any:
        import pyarrow as pa

        return self._made(pa.table(columns))

    def _made(self, table: Any) -> Any:
        import pyarrow as pa

        if not self._is_batch:
            return table
        return (table.combine_chunks().to_batches() or [pa.RecordBatch.from_pylist([], table.schema)])[0]


class IbisFrame(ArrowFrame):
    """A table of Ibis, which is read. The result is in memory, and can be joined with the tables of any engine."""

    def _made(self, table: Any) -> Any:
        import ibis

        return ibis.memtable(table)


class DuckDBFrame(ArrowFrame):
    """A relation of DuckDB. The result is a relation of the same connection."""

    ignores_case = True

    def __init__(self, data: Any) -> None:
        if not _has_pyarrow():
            raise UsageError("relations of DuckDB need pyarrow: pip install 'bulkcat[duckdb]'")
        self._given = data
        lower = [name.lower() for name in data.columns]
        if twice := next((name for name, low in zip(data.columns, lower, strict=True) if lower.count(low) > 1), None):
            raise UsageError(f"the relation has several columns {twice!r}: DuckDB would rename them, so give them other names")
        back = self._relation(_table_of(data.limit(0)))
        changed = zip(data.columns, data.types, back.types, strict=True)
        self._types = {name: str(kind) for name, kind, other in changed if kind != other}  # which Arrow does not have, such as HUGEINT
        super().__init__(_table_of(self._cast(data, dict.fromkeys(self._types, "VARCHAR"))))

    def values(self, column: Any, start: int, stop: int) -> Any:
        values, kind = super().values(column, start, stop), self._types.get(column, "VARCHAR")
        if values.null_count < len(values) and not kind.startswith(("VARCHAR", "ENUM", "HUGEINT", "UHUGEINT")):
            raise UsageError(f"{_named(column)} has values of the type {kind}, and not text")
        return values

    @staticmethod
    def _cast(relation: Any, types: dict[str, str]) -> Any:
        """The relation with other types of some columns."""
        names = {name: '"' + name.replace('"', '""') + '"' for name in relation.columns}
        return relation.project(", ".join(f"CAST({q} AS {types[n]}) AS {q}" if n in types else q for n, q in names.items()))

    def extended(self, columns: Columns) -> Any:
        return self._cast(super().extended(columns), self._types)

    def _made(self, table: Any) -> Any:
        return self._relation(table)

    def _relation(self, _bulkcat_rows: Any) -> Any:
        """A relation of the caller's connection, whose query finds the table as the variable of its name."""
        name = f"bulkcat_{secrets.token_hex(4)}"
        relation = self._given.query(name, "SELECT * FROM _bulkcat_rows")
        self._given.query(name, f"DROP VIEW IF EXISTS {name}")  # which DuckDB 1 leaves for the first query
        return relation.set_alias(name)


def _table_of(relation: Any) -> Any:
    read = getattr(relation, "to_arrow_table", None) or relation.fetch_arrow_table
    return read()


class ListFrame(Frame):
    """Inputs one after the other, whose rows are Answers."""

    def names(self) -> list[Any]:
        return ["input"]

    def values(self, column: Any, start: int, stop: int) -> Any:
        return self.data[start:stop]

    def extended(self, columns: Columns) -> Any:
        rows = zip(*columns.values(), strict=True)
        return [Answer.of(dict(zip(columns, row, strict=True))) for row in rows]


_KINDS = {
    ("pandas", "DataFrame"): PandasFrame,
    ("pandas", "Series"): PandasFrame,
    ("polars", "DataFrame"): PolarsFrame,
    ("polars", "LazyFrame"): PolarsFrame,
    ("polars", "Series"): PolarsFrame,
    ("pyarrow", "Table"): ArrowFrame,
    ("pyarrow", "RecordBatch"): ArrowFrame,
    ("pyarrow", "Array"): ArrowFrame,
    ("pyarrow", "ChunkedArray"): ArrowFrame,
    ("pyarrow", "Dataset"): ArrowFrame,
    ("pyarrow", "Scanner"): ArrowFrame,
    ("ibis", "Table"): IbisFrame,
    ("duckdb", "DuckDBPyRelation"): DuckDBFrame,
    ("_duckdb", "DuckDBPyRelation"): DuckDBFrame,
}


def frame_of(data: Any) -> Frame | None:
    """Return the frame for a value; None if it is none that is known."""
    for base in type(data).__mro__:
        kind = _KINDS.get((base.__module__.split(".")[0], base.__name__))
        if kind is not None:
            return kind(data)
    if not hasattr(data, "__arrow_c_stream__"):
        return None
    if not _has_pyarrow():
        raise UsageError("streams of Arrow need pyarrow: pip install 'bulkcat[arrow]'")
    return ArrowFrame(data)


def reader_of(path: str, account: dict[str, Any]) -> Any:
    """Return a reader of pyarrow for the rows of an output. Columns of CSV and JSON have the types of the account."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.dataset

    settings, counts = account["settings"], account["counts"]
    form, _, compression = settings["output_format"].partition(".")
    if compression == "zst":
        raise UsageError(f"pyarrow does not read {form}.zst: read {path} with another program, or choose another format")
    texts = ["input", "status", "classification", "value", "category_id", "value_local", "title"]
    texts += [f"level_{i + 1}" for i in range(settings.get("levels", 0))]
    types = dict.fromkeys([*texts, "error", "source"], pa.string()) | {"record": pa.int64(), "rank": pa.int64(), "confidence": pa.float64()}
    members = [(n, t) for n, t in types.items() if n in ("rank", "confidence", *texts[3:])]
    types["categories"] = pa.list_(pa.struct(members))  # also if the first MiB has none
    for column in account.get("carried_columns", []):
        is_text = form != "jsonl" and counts.get("misfits")  # some values are of another type
        types[column["name"]] = pa.string() if is_text else _type_of(column["type"], form)
    if form in ("csv", "tsv"):
        convert = pyarrow.csv.ConvertOptions(column_types=types, null_values=[""], strings_can_be_null=True)
        parse = pyarrow.csv.ParseOptions(newlines_in_values=True, delimiter="," if form == "csv" else "\t")
        form = pyarrow.dataset.CsvFileFormat(parse, convert_options=convert)
    elif form == "jsonl" and not counts["rows"]:
        return pa.schema(types).empty_table().to_reader()
    elif form == "jsonl":
        found = pyarrow.dataset.dataset(path, format="json").schema  # of the first MiB
        schema = pa.schema([(field.name, _known(field, types)) for field in found])
        return pyarrow.dataset.dataset(path, schema, "json").scanner().to_reader()
    return pyarrow.dataset.dataset(path, format=form).scanner().to_reader()


def _known(field: Any, types: dict[str, Any]) -> Any:
    """Return the type of a column, and those of the members of the list of categories."""
    import pyarrow as pa

    if pa.types.is_list(field.type) and pa.types.is_struct(field.type.value_type):
        return pa.list_(pa.struct([(member.name, _known(member, types)) for member in field.type.value_type]))
    return types.get(field.name, field.type)


def _type_of(text: str, form: str) -> Any:
    """Return the type of pyarrow for that of a carried column in an account."""
    import pyarrow as pa

    name, _, rest = text.rstrip(")").partition("(")
    if name == "decimal":
        precision, scale = map(int, rest.split(","))
        return (pa.decimal128 if precision <= 38 else pa.decimal256)(precision, scale)
    if name in ("timestamp", "datetime"):
        return pa.timestamp({"3": "ms", "6": "us"}.get(rest, "ns"), "UTC" if name == "timestamp" else None)
    date = pa.timestamp("s") if form == "jsonl" else pa.date32()  # of which pyarrow makes no dates
    return {"int64": pa.int64(), "double": pa.float64(), "bool": pa.bool_(), "date": date}.get(name, pa.string())


def _has_pyarrow() -> bool:
    return "pyarrow" in sys.modules or importlib.util.find_spec("pyarrow") is not None


def format_for(frame: Frame) -> str:
    """Return the format in which rows are sent and come back."""
    return "parquet" if _has_pyarrow() and not isinstance(frame, ListFrame) else "jsonl"


def send(frame: Frame, columns: list[Any], path: str) -> tuple[str, list[str]]:
    """Write the input columns to a file, and return its name and theirs. A program that reads the file before keeps its rows.

    The name of the file is path and the digest of the rows: for the program, the rows of another frame are another input.
    """
    draft = path + ".draft"
    names = _write(frame, columns, draft)
    digest = hashlib.sha256()
    with open(draft, "rb") as file:
        while part := file.read(1 << 20):
            digest.update(part)
    path = f"{path}-{digest.hexdigest()[:_DIGITS]}"
    try:
        os.replace(draft, path)
    except PermissionError:  # on Windows
        raise Error(f"another run still reads {path}: try again when it has ended") from None
    return path, names


def named(text: str, path: str) -> str:
    """Return a message of the program that speaks of the frame instead of the file of send."""
    for place in (path, os.path.basename(path)):  # in a setting, relative to the output
        text = re.sub(re.escape(place[:-_DIGITS]) + f"[0-9a-f]{{{_DIGITS}}}", "another frame", text.replace(place, "this frame"))
    return text


def _write(frame: Frame, columns: list[Any], path: str) -> list[str]:
    names = [f"input_{i + 1}" for i in range(len(columns))]
    batches = [(start, min(start + _BATCH, frame.length())) for start in range(0, max(frame.length(), 1), _BATCH)]
    if format_for(frame) == "jsonl":
        with open(path, "w", encoding="utf-8") as file:
            for start, stop in batches:
                rows = zip(*[as_texts(_named(c), frame.values(c, start, stop), start) for c in columns], strict=True)
                file.writelines(json.dumps(dict(zip(names, row, strict=True)), ensure_ascii=False) + "\n" for row in rows)
        return names
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pa.schema([(name, pa.large_string()) for name in names])
    with pq.ParquetWriter(path, schema, compression="zstd", use_dictionary=False, write_statistics=False) as writer:
        for start, stop in batches:
            writer.write_table(pa.table([_strings(c, start, frame.values(c, start, stop)) for c in columns], schema=schema))
    return names


def _strings(column: Any, start: int, values: Any) -> pa.ChunkedArray:
    """A column as text: text, categories of text, and whole numbers."""
    import pyarrow as pa

    array = values
    if not isinstance(values, (list, pa.Array, pa.ChunkedArray)):
        try:
            array = pa.array(values, pa.large_string() if values.dtype == object else None, from_pandas=True)
        except (pa.ArrowException, TypeError, ValueError, OverflowError):  # types that Arrow does not have, and texts that are none
            array = list(values)
    if isinstance(array, list):
        array = pa.array(as_texts(_named(column), array, start), pa.large_string())
    if array.null_count == len(array):  # of any type: pandas has doubles for a column without values
        return pa.chunked_array([pa.nulls(len(array), pa.large_string())])
    if pa.types.is_run_end_encoded(array.type):
        import pyarrow.compute as pc

        array = pc.run_end_decode(array)
    kind = array.type.value_type if pa.types.is_dictionary(array.type) else array.type
    if not (str(kind) in ("string", "large_string", "string_view", "null") or pa.types.is_integer(kind)):
        raise UsageError(f"{_named(column)} has values of the type {kind}, and not text")
    array = array.cast(pa.large_string())
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _named(column: Any) -> str:
    return f"the column {column!r}"


def as_texts(what: str, values: Iterable[Any], start: int | None = None) -> list[str | None]:
    """Objects as text: texts and whole numbers. The nulls of all libraries are none. start is the number of the first row."""
    texts: list[str | None] = []
    for i, value in enumerate(values):
        if isinstance(value, str):
            encodable(what if start is None else f"{what}, row {start + i},", value)
            texts.append(str.__str__(value))  # the value of a member of an enumeration, too
        elif isinstance(value, Integral) and not isinstance(value, bool):
            texts.append(str(int(value)))
        elif _is_null(value):
            texts.append(None)
        else:
            place = "" if start is None else f" in row {start + i}"
            raise UsageError(f"{what} has {reprlib.repr(value)}{place}, and not text")
    return texts


def _is_null(value: Any) -> bool:
    """Report whether a value is None, or the NA, NaT or NaN of a library."""
    if value is None or type(value).__name__ in ("NAType", "NaTType", "MaskedConstant"):
        return True
    try:
        return not hasattr(value, "__len__") and bool(value != value)
    except Exception:  # such as a signaling NaN of decimal
        return False


def receive(frame: Frame, path: str) -> Columns:
    """Read the rows of the program."""
    if format_for(frame) == "jsonl":
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
        return {name: [row[name] for row in rows] for name in (rows[0] if rows else _NAMES)}
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = pq.read_schema(path)
    names = [name for name in schema.names if name != "input"]
    texts = [field.name for field in schema if frame.categorical and pa.types.is_string(field.type)]
    with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as file:

        def column(name: str) -> Any:
            batches = file.iter_batches(columns=[name], use_threads=False)
            table = pa.Table.from_batches(batches, pa.schema([file.schema_arrow.field(name)]))
            return table.unify_dictionaries().column(name)

        # Column by column and in batches, in one thread: reading all at once takes twice their memory.
        return {name: column(name) for name in names}


def where(columns: Columns, name: str, value: str) -> Columns:
    """Return the rows in which a column has a value."""
    if isinstance(columns[name], list):
        places = [i for i, v in enumerate(columns[name]) if v == value]
        return {n: [values[i] for i in places] for n, values in columns.items()}
    import pyarrow as pa
    import pyarrow.compute as pc

    table = pa.table(columns)
    kept = table.filter(pc.equal(table.column(name).cast(pa.string()), value))
    return {n: kept.column(n) for n in kept.column_names}


def without_prefix(errors: Any, prefix: str) -> Any:
    """Return errors without the name of the file of the call and the line, which the position of the row says."""
    import re

    pattern = "^" + re.escape(prefix) + r":\d+: "
    if isinstance(errors, list):
        return [e and re.sub(pattern, "", e) for e in errors]
    import pyarrow as pa
    import pyarrow.compute as pc

    texts = pc.replace_substring_regex(errors.cast(pa.string()), pattern, "")
    return texts.dictionary_encode() if pa.types.is_dictionary(errors.type) else texts


def check_rows(columns: Columns, length: int) -> None:
    """Refuse rows that are not one for each row of the frame, in its order."""
    records = columns["record"]
    ends = [int(str(records[i])) for i in (0, -1)] if len(records) else [1, 0]
    if len(records) != length or ends != [1, length]:
        raise Error(f"the program gave {len(records)} rows, from record {ends[0]} to {ends[1]}, for {length} rows")
