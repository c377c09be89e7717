"""Types of all libraries: as inputs they are texts or refused, and beside the inputs they come back as they were."""

import datetime
import decimal
import enum
import json
import os
import pathlib
import uuid

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet as pq
import pytest
from polars.testing import assert_frame_equal

import bulkcat
from bulkcat import _api, _frames


class Color(str, enum.Enum):
    RED = "red"


class Number(enum.IntEnum):
    ONE = 1


def pandas(values):
    return pd.DataFrame({"a": pd.Series(values)})


def objects(*values):
    return pd.DataFrame({"a": pd.Series(list(values), dtype="object")})


def polars(values, dtype=None):
    return pl.DataFrame({"a": pl.Series(values, dtype=dtype)})


def arrow(values, dtype=None):
    return pa.table({"a": pa.array(values, dtype)})


def sql(value):
    return duckdb.sql(f"SELECT {value} AS a")


UUID = uuid.UUID(int=5)
NOT_TEXT = "and not text"

# Inputs, and the texts that the program gets, or the message.
INPUTS = {
    "pandas: nullable integers": (lambda: pandas(pd.array([5, None], dtype="Int64")), ["5", None]),
    "pandas: nullable small integers": (lambda: pandas(pd.array([5, None], dtype="UInt8")), ["5", None]),
    "pandas: nullable booleans": (lambda: pandas(pd.array([True, None], dtype="boolean")), NOT_TEXT),
    "pandas: nullable texts": (lambda: pandas(pd.array(["x", None], dtype="string")), ["x", None]),
    "pandas: texts of Python": (lambda: pandas(pd.array(["x", None], dtype="string[python]")), ["x", None]),
    "pandas: categories": (lambda: pandas(pd.Categorical(["x", None])), ["x", None]),
    "pandas: categories of integers": (lambda: pandas(pd.Categorical([5, None])), ["5", None]),
    "pandas: categories of several types": (lambda: pandas(pd.Categorical([5, "x", None])), ["5", "x", None]),
    "pandas: categories of floats": (lambda: pandas(pd.Categorical([5.5])), NOT_TEXT),
    "pandas: times": (lambda: pandas(pd.date_range("2026-01-01", periods=1, tz="Asia/Tokyo")), NOT_TEXT),
    "pandas: durations": (lambda: pandas(pd.to_timedelta([1])), NOT_TEXT),
    "pandas: periods": (lambda: pandas(pd.period_range("2026", periods=1, freq="M")), NOT_TEXT),
    "pandas: intervals": (lambda: pandas(pd.interval_range(0, 1)), NOT_TEXT),
    "pandas: sparse integers": (lambda: pandas(pd.arrays.SparseArray([0, 5])), ["0", "5"]),
    "pandas: sparse floats": (lambda: pandas(pd.arrays.SparseArray([0.0, 5])), NOT_TEXT),
    "pandas: texts of pyarrow": (lambda: pandas(pd.array(["x", None], dtype=pd.ArrowDtype(pa.large_string()))), ["x", None]),
    "objects: decimal numbers": (lambda: objects(decimal.Decimal("1.5")), "Decimal"),
    "objects: NaN of decimal": (lambda: objects(decimal.Decimal("NaN"), "x"), [None, "x"]),
    "objects: signaling NaN of decimal": (lambda: objects(decimal.Decimal("sNaN"), "x"), "sNaN"),
    "objects: UUIDs": (lambda: objects(UUID), "UUID"),
    "objects: bytes": (lambda: objects(b"x", "y"), "b'x' in row 0"),
    "objects: lists": (lambda: objects("x", ["x"]), r"\['x'\] in row 1"),
    "objects: dicts": (lambda: objects({"a": 1}, "x"), "in row 0"),
    "objects: arrays": (lambda: objects(np.array([1, 2]), "x"), r"array\(\[1, 2\]\) in row 0"),
    "objects: an array of NaN": (lambda: objects(np.array([np.nan]), "x"), "in row 0"),
    "objects: frames": (lambda: objects(pd.DataFrame({"a": [1]}), "x"), "in row 0"),
    "objects: nulls of all libraries": (
        lambda: objects(pd.NA, pd.NaT, None, float("nan"), np.datetime64("NaT", "s"), np.float32("nan"), "x"),
        [None] * 6 + ["x"],
    ),
    "objects: only nulls": (lambda: objects(pd.NA, pd.NaT, None), [None] * 3),
    "objects: integers of NumPy": (lambda: objects(np.int64(5), np.uint8(6), "x", 7), ["5", "6", "x", "7"]),
    "objects: booleans of NumPy": (lambda: objects(np.bool_(True), "x"), "True"),
    "objects: texts of NumPy": (lambda: objects(np.str_("x"), None), ["x", None]),
    "objects: members of enumerations": (lambda: objects(Color.RED, Number.ONE, "x"), ["red", "1", "x"]),
    "objects: large integers": (lambda: objects(2**70), [str(2**70)]),
    "objects: dates": (lambda: objects(datetime.date(2026, 1, 1)), "datetime.date"),
    "Polars: Int128": (lambda: polars([2**100, None], pl.Int128), [str(2**100), None]),
    "Polars: UInt8": (lambda: polars([5, None], pl.UInt8), ["5", None]),
    "Polars: Decimal": (lambda: polars([decimal.Decimal("1.5")]), NOT_TEXT),
    "Polars: Enum": (lambda: polars(["x", None], pl.Enum(["x"])), ["x", None]),
    "Polars: Categorical": (lambda: polars(["x", None], pl.Categorical), ["x", None]),
    "Polars: List": (lambda: polars([["x"]]), NOT_TEXT),
    "Polars: Struct": (lambda: polars([{"x": 1}]), NOT_TEXT),
    "Polars: Array": (lambda: polars([[1]], pl.Array(pl.Int8, 1)), NOT_TEXT),
    "Polars: Object": (lambda: polars(["x", 5, None], pl.Object), ["x", "5", None]),
    "Polars: Object of UUIDs": (lambda: polars([UUID], pl.Object), "UUID"),
    "Polars: Null": (lambda: polars([None, None]), [None, None]),
    "Polars: Boolean": (lambda: polars([True]), NOT_TEXT),
    "Polars: Binary": (lambda: polars([b"x"]), NOT_TEXT),
    "Polars: Datetime": (lambda: polars([datetime.datetime(2026, 1, 1)]), NOT_TEXT),
    "Polars: nulls of a List": (lambda: polars([None], pl.List(pl.Int8)), [None]),
    "pyarrow: dictionary": (lambda: pa.table({"a": pa.array(["x", None]).dictionary_encode()}), ["x", None]),
    "pyarrow: dictionary of integers": (lambda: pa.table({"a": pa.array([5, None]).dictionary_encode()}), ["5", None]),
    "pyarrow: chunks with several dictionaries": (
        lambda: pa.chunked_array([pa.array(["x"]).dictionary_encode(), pa.array(["y"]).dictionary_encode()]),
        ["x", "y"],
    ),
    "pyarrow: views": (lambda: arrow(["x", None], pa.string_view()), ["x", None]),
    "pyarrow: large texts": (lambda: arrow(["x"], pa.large_string()), ["x"]),
    "pyarrow: runs": (lambda: pa.table({"a": pa.RunEndEncodedArray.from_arrays([1, 3], ["x", None])}), ["x", None, None]),
    "pyarrow: an extension": (lambda: arrow([UUID.bytes], pa.uuid()), "arrow.uuid"),
    "pyarrow: bytes": (lambda: arrow([b"x"]), "binary"),
    "pyarrow: a map": (lambda: arrow([[("k", 1)]], pa.map_(pa.string(), pa.int8())), "map"),
    "pyarrow: a reader": (lambda: arrow(["x", None]).to_reader(), ["x", None]),
    "pyarrow: scalars": (lambda: [pa.scalar("x")], "StringScalar"),
    "NumPy: texts": (lambda: np.array(["x", "y"]), ["x", "y"]),
    "NumPy: texts of any length": (lambda: np.array(["x"], dtype=np.dtypes.StringDType()), ["x"]),
    "NumPy: integers": (lambda: np.array([5, 6]), ["5", "6"]),
    "NumPy: masked": (lambda: np.ma.array([5, 6], mask=[0, 1]), ["5", None]),
    "NumPy: bytes": (lambda: np.array([b"x"]), NOT_TEXT),
    "NumPy: two dimensions": (lambda: np.array([["x"]]), NOT_TEXT),
    "NumPy: no dimension": (lambda: np.array("x"), "0-d array"),
    "an index": (lambda: pd.Index(["x"]), ["x"]),
    "an index of tuples": (lambda: pd.MultiIndex.from_tuples([("x", 1)]), NOT_TEXT),
    "a range": (lambda: range(2), ["0", "1"]),
    "a dict": (lambda: {"x": 1}, "and not builtins.dict"),
    "bytes": (lambda: bytearray(b"x"), "and not builtins.bytearray"),
    "a frame of another library": (lambda: type("Frame", (list,), {"columns": ["a"]})(["a"]), "and not test_types.Frame"),
    "DuckDB: HUGEINT": (lambda: sql("5::HUGEINT"), ["5"]),
    "DuckDB: ENUM": (lambda: sql("'x'::ENUM('x')"), ["x"]),
    "DuckDB: UUID": (lambda: sql("uuid()"), "the type UUID"),
    "DuckDB: BIT": (lambda: sql("'101'::BIT"), "the type BIT"),
    "DuckDB: NULL": (lambda: sql("NULL::BIT"), [None]),
    "DuckDB: DECIMAL": (lambda: sql("1.5"), NOT_TEXT),
}


OLDEST = bool(os.environ.get("OLDEST"))  # libraries, which do not have all types


def made(case):
    """The data of a case."""
    try:
        return INPUTS[case][0]()
    except AttributeError as error:
        if OLDEST:
            pytest.skip(str(error))
        raise


def has(case):
    """Whether the libraries have the type of a case."""
    try:
        made(case)
    except pytest.skip.Exception:
        return False
    return True


def sent(data, folder):
    """The texts that the program gets."""
    frame = _frames.frame_of(data) or _frames.ListFrame(_api._listed(data))
    path, (name,) = _frames.send(frame, frame.names(), str(folder / "input"))
    if _frames.format_for(frame) == "parquet":
        return pq.read_table(path).column(name).to_pylist()
    return [json.loads(line)[name] for line in pathlib.Path(path).read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("case", "has_pyarrow"), [(c, p) for c in INPUTS for p in (True, False) if p or not c.startswith(("pyarrow", "Duck"))]
)
def test_inputs(case, has_pyarrow, tmp_path, monkeypatch):
    data, want = made(case), INPUTS[case][1]
    if not has_pyarrow:
        monkeypatch.setattr(_frames, "_has_pyarrow", lambda: False)
    if isinstance(want, list):
        assert sent(data, tmp_path) == want
        return
    with pytest.raises(bulkcat.UsageError, match=want):
        sent(data, tmp_path)


def test_all_types_of_pandas_come_back():
    singles = {
        name: make()["a"].iloc[:1] for name, (make, _) in INPUTS.items() if name.startswith(("pandas", "objects")) and "NaN" not in name
    }
    frame = pd.DataFrame(singles)
    for index in (singles["pandas: periods"], singles["pandas: categories"], singles["pandas: times"], pd.Series([pd.NA])):
        frame.index = pd.Index(index)
        result = bulkcat.products(frame, "pandas: categories")
        pd.testing.assert_frame_equal(result[list(frame.columns)], frame)
        assert result["status"].iloc[0] in ("ok", "empty")


def test_all_types_of_polars_come_back():
    frame = pl.DataFrame([made(name)["a"].head(1).alias(name) for name in INPUTS if name.startswith("Polars") and has(name)])
    result = bulkcat.products(frame, "Polars: Enum")
    kept = [name for name in frame.columns if frame[name].dtype != pl.Object]  # which Polars cannot compare
    assert_frame_equal(result.select(kept), frame.select(kept))
    assert result["Polars: Object"].to_list() == ["x"]


def test_all_types_of_pyarrow_come_back():
    tables = {name: made(name) for name in INPUTS if name.startswith("pyarrow") and "scalar" not in name and has(name)}
    columns = {
        name: (t if isinstance(t, pa.ChunkedArray) else (t.read_all() if hasattr(t, "read_all") else t).column(0)).slice(0, 1)
        for name, t in tables.items()
    }
    table = pa.table(columns)
    assert bulkcat.products(table, "pyarrow: large texts").select(table.column_names).equals(table)


def test_all_types_of_duckdb_come_back():
    without = "EXCLUDE (uhugeint)" if OLDEST else ""  # which DuckDB 1.0 does not give to Arrow
    relation = duckdb.sql(f"SELECT 'steel drill' AS title, * {without} FROM test_all_types()")
    result = bulkcat.products(relation, "title")
    width = len(relation.columns)
    assert result.types[:width] == relation.types
    assert repr([row[:width] for row in result.fetchall()]) == repr(relation.fetchall())


@pytest.mark.parametrize("levels", [2, 3])
def test_columns_of_several_levels(levels):
    names = pd.MultiIndex.from_tuples([("z", "", ""), ("a", "x", "p"), ("b", "y", "q")], names=["one", None, "three"])
    frame = pd.DataFrame([["a", "steel drill", "c"]] * 2, columns=names.droplevel(2) if levels == 2 else names, index=[3, 3])
    result = bulkcat.products(frame, ("a", "x", "p")[:levels])
    pd.testing.assert_frame_equal(result.iloc[:, :3], frame)
    assert list(result["status"]) == ["ok", "ok"] and result.columns.names == frame.columns.names


DATASETS = {
    "a dataset": lambda folder: pyarrow.dataset.dataset(folder),
    "a scanner": lambda folder: pyarrow.dataset.dataset(folder).scanner(),
}


@pytest.mark.parametrize("kind", DATASETS)
def test_datasets(kind, tmp_path):
    pq.write_table(pa.table({"title": ["steel drill"]}), tmp_path / "a.parquet")
    assert bulkcat.products(DATASETS[kind](tmp_path)).column("category_id").to_pylist() == ["1217"]


def test_record_batches_come_back():
    batch = pa.RecordBatch.from_pydict({"title": ["steel drill", None]})
    for data, want in ((batch, ["ok", "blank"]), (batch[:0], [])):
        result = bulkcat.products(data)
        assert isinstance(result, pa.RecordBatch) and result.column("status").to_pylist() == want


@pytest.mark.filterwarnings("ignore:The .future.infer_string. option")  # which Ibis reads
def test_ibis():
    ibis = pytest.importorskip("ibis")
    catalog = ibis.memtable({"title": ["steel drill", "sofa"], "price": [3, 5]})
    result = bulkcat.products(catalog.filter(catalog.price < 5), "title")
    assert isinstance(result, ibis.Table) and result.level_1.execute().tolist() == ["Hardware"]
    assert catalog.join(result.select("title", "value"), "title").count().execute() == 1
    assert bulkcat.products(catalog, "title", shape="long").record.max().execute() == 2


def test_chdb():
    chdb = pytest.importorskip("chdb")
    result = bulkcat.products(chdb.query("SELECT 'steel drill' AS title", "Arrow"))
    assert result.column("category_id").to_pylist() == ["1217"]


READERS = {
    "pyarrow": lambda run: pa.RecordBatchReader.from_stream(run).read_all(),
    "Polars": lambda run: pl.DataFrame(run).to_arrow(),
    "pandas": lambda run: pa.Table.from_pandas(pd.DataFrame.from_arrow(run)),
    "DuckDB": lambda run: duckdb.sql("SELECT * FROM run").arrow(),
}


@pytest.mark.parametrize("output", ["out.parquet", "out.csv", "out.tsv", "out.csv.gz", "out.jsonl", "out.jsonl.gz", "folder of Parquet/"])
@pytest.mark.parametrize("library", READERS)
def test_rows_of_a_run(library, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    if (OLDEST and library != "pyarrow") or (library == "pandas" and not hasattr(pd.DataFrame, "from_arrow")):
        pytest.skip(f"this {library} takes no stream")
    pd.DataFrame({"title": ["", "steel drill"], "sku": ["007", None], "note": ["a\nb", "c"]}).to_parquet("titles.parquet")
    run = bulkcat.products("titles.parquet", "title", output=output, top=1)
    table = READERS[library](run)
    table = table.read_all() if hasattr(table, "read_all") else table
    assert table.column_names == bulkcat_columns(run)
    assert table.column("record").to_pylist() == [1, 2] and table.column("category_id").to_pylist() == [None, "1217"]
    assert table.column("sku").to_pylist() == ["007", None] and table.column("note").to_pylist() == ["a\nb", "c"]
    assert table.column("confidence").to_pylist()[1] > 0 and table.column("level_2").to_pylist() == [None, "Tools"]


def bulkcat_columns(run):
    first = ["record", "input", "status", "classification", "rank", "value", "category_id", "confidence"]
    return [*first, *(f"level_{i}" for i in range(1, 8)), "error", *(c["name"] for c in run.account["carried_columns"])]


@pytest.mark.parametrize("shape", ["top", "nested"])
@pytest.mark.parametrize("output", ["out.csv", "out.jsonl", "out.parquet"])
def test_types_of_a_run_are_those_of_all_rows(output, shape, tmp_path, monkeypatch):
    """pyarrow takes the types of the first MiB for those of the file."""
    monkeypatch.chdir(tmp_path)
    if output == "out.csv" and shape == "nested":
        pytest.skip("CSV has no lists")
    many, day = 20_000, datetime.datetime(2026, 1, 2)
    last = {
        "double": 1.5,
        "bool": True,
        "text": "x",
        "time": day,
        "zone": day.replace(tzinfo=datetime.timezone.utc),
        "price": decimal.Decimal("1.10"),
    }
    first = dict.fromkeys(last) | {"double": 1.0, "text": None, "price": decimal.Decimal("2")}
    table = pa.Table.from_pylist([{"title": "", **first}] * many + [{"title": "steel drill", **last}])
    pq.write_table(table, "titles.parquet")
    rows = pa.table(bulkcat.products("titles.parquet", "title", output=output, shape=shape))
    assert {name: rows.schema.field(name).type for name in last} == {name: table.schema.field(name).type for name in last}
    assert rows.select(list(last)).to_pylist()[-1] == last
    categories = rows["categories"].to_pylist()[-1] if shape == "nested" else rows.to_pylist()[-1:]
    assert categories[0]["category_id"] == "1217" and categories[0]["level_7"] is None


def test_rows_of_a_run_that_pyarrow_does_not_read(tmp_path):
    assert pa.table(bulkcat.products([], output=tmp_path / "out.jsonl")).num_rows == 0
    run = bulkcat.products(["steel drill"], output=tmp_path / "out.csv.zst")
    with pytest.raises(bulkcat.UsageError, match=r"pyarrow does not read csv\.zst"):
        pa.table(run)


def test_run_is_a_path_and_has_a_table_for_notebooks(tmp_path):
    run = bulkcat.products(["steel drill"], output=tmp_path / "<out>.csv")
    assert pathlib.Path(run) == tmp_path / "<out>.csv" and pd.read_csv(run)["category_id"][0] == 1217
    assert "&lt;out&gt;.csv" in run._repr_html_() and "<tr><th>ok</th><td>1</td></tr>" in run._repr_html_()


def test_streams_without_pyarrow(monkeypatch):
    stream = pa.table({"title": ["steel drill"]}).to_reader()
    monkeypatch.setattr(_frames, "_has_pyarrow", lambda: False)
    with pytest.raises(bulkcat.UsageError, match=r"need pyarrow: pip install 'bulkcat\[arrow\]'"):
        bulkcat.products(stream)


def test_streams_of_arrow():
    class Stream:
        def __arrow_c_stream__(self, requested_schema=None):
            return pa.table({"title": ["steel drill"]}).__arrow_c_stream__(requested_schema)

    for data in (Stream(), pa.table({"title": ["steel drill"]}).to_reader()):
        assert bulkcat.products(data).column("category_id").to_pylist() == ["1217"]
