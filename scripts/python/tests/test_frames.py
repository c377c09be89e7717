"""Frames come back with their own columns as they were, and new columns by position."""

import duckdb
import hypothesis.strategies as st
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from polars.testing import assert_frame_equal

import bulkcat
from bulkcat import _frames

TITLES = ["steel drill", None, "", "cast iron skillet", "steel drill", "N/A"]
STATUSES = ["ok", "blank", "blank", "ok", "ok", "invalid"]

# Texts that look like other types, and those with line ends, quotes and other scripts.
texts = st.one_of(
    st.none(), st.text(max_size=12), st.sampled_from(["0049654541", "NaN", "a,b", 'a"b', "a\nb", "\x00", "🙂", "1e5", "null"])
)
few = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


@st.composite
def pandas_frames(draw):
    """Frames with an odd index, and columns of other types beside the inputs."""
    rows = draw(st.lists(texts, max_size=8))
    size = len(rows)
    column = st.lists(texts, min_size=size, max_size=size)
    dtype = draw(st.sampled_from(["object", "string", "category", "str"]))
    frame = pd.DataFrame({"t": pd.Series(rows, dtype=dtype if size or dtype != "category" else "object"), "same": draw(column)})
    frame["categories of texts"] = pd.Categorical(draw(column), ordered=draw(st.booleans()) and size > 0)
    frame["nullable"] = pd.array(draw(st.lists(st.none() | st.integers(-9, 9), min_size=size, max_size=size)), dtype="Int64")
    frame["nested"] = pd.Series([[n] * n for n in range(size)], dtype="object")
    frame[7] = pd.date_range("2026-01-01", periods=size, tz="Asia/Tokyo")
    frame.index = draw(
        st.sampled_from(
            [
                pd.RangeIndex(5, 5 + size),
                pd.Index([1, 1, 0, 0, 2, 2, 9, 9][:size], name="t"),
                pd.MultiIndex.from_tuples([(i % 2, "x") for i in range(size)], names=["a", None]) if size else pd.RangeIndex(0),
                pd.date_range("2020-01-01", periods=size)[::-1],
            ]
        )
    )
    return frame


@few
@given(pandas_frames())
def test_any_pandas_frame_comes_back(frame):
    before = frame.copy(deep=True)
    result = bulkcat.websites(frame, "t", fetch="never", ask_placeholders=True)
    pd.testing.assert_frame_equal(frame, before)
    pd.testing.assert_frame_equal(result[list(before.columns)], before, check_freq=False)
    assert list(result.columns)[: len(before.columns)] == list(before.columns)
    assert result["status"].notna().all()
    assert [s == "blank" for s, t in zip(result["status"], before["t"], strict=True) if pd.isna(t) or t == ""].count(False) == 0


@few
@given(st.lists(st.tuples(texts, texts, st.none() | st.integers(0, 9)), max_size=8), st.sampled_from([pl.String, pl.Categorical]))
def test_any_polars_frame_comes_back(rows, dtype):
    frame = pl.DataFrame(rows, schema={"t": pl.String, "c": pl.Categorical, "n": pl.Int8}, orient="row").cast({"t": dtype})
    frame = frame.with_columns(pl.Series("nested", [[{"a": i}] for i in range(len(rows))], dtype=pl.List(pl.Struct({"a": pl.Int8}))))
    result = bulkcat.websites(frame, "t", fetch="never")
    assert_frame_equal(result.select(frame.columns), frame)
    assert result["status"].null_count() == 0


@few
@given(
    st.lists(st.tuples(texts, texts), max_size=8), st.sampled_from([pa.string(), pa.large_string(), pa.dictionary(pa.int8(), pa.string())])
)
def test_any_table_comes_back(rows, kind):
    table = pa.table(
        {"t": pa.array([r[0] for r in rows], pa.string()).cast(kind), "t2": pa.array([[r[1]] for r in rows], pa.list_(pa.string()))}
    )
    table = pa.concat_tables([table.slice(0, 2), table.slice(2)])
    result = bulkcat.websites(table, "t", fetch="never")
    assert result.select(["t", "t2"]).equals(table)
    assert result.column("status").null_count == 0


def test_types_of_duckdb_come_back():
    relation = duckdb.sql("""
        SELECT 'steel drill' AS "t ""1", 170141183460469231731687303715884105727::HUGEINT AS h, 'a'::ENUM ('a', 'b') AS e,
            '48a2a835-1635-4634-bbc5-032769511da0'::UUID AS u, INTERVAL 3 MONTH AS i, '101'::BIT AS b,
            TIMESTAMPTZ '2026-01-01 00:00:00+00' AS z,
            [1, NULL] AS l, 1.5::DECIMAL(10, 2) AS d, 18446744073709551615::UBIGINT AS ub, {'a': 1::HUGEINT} AS s, MAP {'k': 2} AS m
        UNION ALL SELECT NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL""")
    result = bulkcat.products(relation, 't "1')
    assert result.types[:12] == relation.types
    assert [row[:12] for row in result.fetchall()] == relation.fetchall()


def test_relation_of_the_connection_of_the_caller():
    with duckdb.connect() as connection:
        connection.sql("CREATE TABLE catalog AS SELECT * FROM (VALUES ('steel drill', 3::HUGEINT), ('sofa', 5)) t(title, price)")
        for shape in ("top", "long"):
            result = bulkcat.products(connection.table("catalog"), "title", shape=shape, top=1)
            name = "price" if shape == "top" else "record"
            rows = connection.sql(f"SELECT sum({name}) FROM result WHERE level_1 = 'Hardware'").fetchall()
            assert rows == [(3 if shape == "top" else 1,)]
        result = bulkcat.products(connection.table("catalog"), "title")
        joined = connection.table("catalog").join(result.project("title, value"), "title").order("price").fetchall()
        assert [row[:2] for row in joined] == [("steel drill", 3), ("sofa", 5)]
        result.create("categorized")
        assert connection.sql("SELECT table_name FROM duckdb_tables() ORDER BY 1").fetchall() == [("catalog",), ("categorized",)]
        assert connection.sql("SELECT * FROM duckdb_views() WHERE NOT internal").fetchall() == []
        assert bulkcat.products(result.project("title AS t"), "t").project("status").fetchall() == [("ok",), ("ok",)]


FRAMES = {
    "pandas": lambda t: pd.DataFrame({"title": t}, index=[3, 3, 1, 1, 0, 0]),
    "pandas series": lambda t: pd.Series(t, name="title"),
    "polars": lambda t: pl.DataFrame({"title": t}),
    "polars lazy": lambda t: pl.LazyFrame({"title": t}),
    "polars series": lambda t: pl.Series("title", t),
    "pyarrow": lambda t: pa.table({"title": t}),
    "record batch": lambda t: pa.RecordBatch.from_pydict({"title": t}),
    "duckdb": lambda t: duckdb.from_arrow(pa.table({"title": t})),
}


def column(frame, name):
    """The values of a column of any frame, with None for nulls."""
    if hasattr(frame, "collect"):
        frame = frame.collect()
    if hasattr(frame, "fetchnumpy"):
        return [row[0] for row in frame.select(name).fetchall()]
    if isinstance(frame, pd.DataFrame):
        return [None if not isinstance(v, (list, dict)) and pd.isna(v) else v for v in frame[name].tolist()]
    return frame[name].to_list() if isinstance(frame, pl.DataFrame) else frame[name].to_pylist()


@pytest.mark.parametrize("kind", FRAMES)
def test_kinds_of_frames(kind):
    frame = FRAMES[kind](TITLES)
    result = bulkcat.products(frame)
    assert column(result, "title") == TITLES
    assert column(result, "status") == STATUSES
    assert column(result, "category_id") == ["1217", None, None, "662", "1217", None]
    assert column(result, "level_1") == ["Hardware", None, None, "Home & Garden", "Hardware", None]
    assert column(result, "error")[1] == 'the input is empty: ""'
    long = bulkcat.products(frame, shape="long", top=2)
    assert column(long, "record") == [1, 1, 2, 3, 4, 4, 5, 5, 6]
    assert column(long, "rank") == [1, 2, None, None, 1, 2, 1, 2, None]
    nested = bulkcat.products(frame, shape="nested", prefix="p_")
    assert [len(c) for c in column(nested, "p_categories")] == [3, 0, 0, 3, 3, 0]


@pytest.mark.parametrize("kind", ["pandas", "polars", "pandas series", "polars lazy"])
@pytest.mark.parametrize("shape", ["top", "nested", "long"])
def test_without_pyarrow(kind, shape, monkeypatch):
    want = bulkcat.products(FRAMES[kind](TITLES), shape=shape)
    monkeypatch.setattr(_frames, "_has_pyarrow", lambda: False)
    got = bulkcat.products(FRAMES[kind](TITLES), shape=shape)
    names = want.collect_schema().names() if kind == "polars lazy" else list(want.columns)
    for name in names:
        assert column(got, name) == column(want, name), name
        if isinstance(want, pd.DataFrame):
            assert got[name].dtype == want[name].dtype, name


TEXTS = ("value", "category_id", "level_1", "level_7", "status", "error")


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_texts_are_texts(has_pyarrow, monkeypatch):
    monkeypatch.setattr(_frames, "_has_pyarrow", lambda: has_pyarrow)
    result = bulkcat.products(pd.DataFrame({"title": TITLES}))
    assert {result[c].dtype for c in TEXTS} == {pd.Series(TITLES).dtype}
    assert list(result.merge(pd.DataFrame({"level_1": ["Hardware"], "buyer": ["Ann"]}), on="level_1")["buyer"]) == ["Ann"] * 2
    assert result["confidence"].dtype == "float64"
    assert bulkcat.products(pd.Series(TITLES), shape="long")["rank"].dtype == "Int64"
    result = bulkcat.products(pl.DataFrame({"title": TITLES}))
    assert {result[c].dtype for c in TEXTS} == {pl.String}
    assert result["value"].str.split(" > ").list.first().to_list() == result["level_1"].to_list()
    assert result.join(pl.DataFrame({"level_1": ["Hardware"], "buyer": ["Ann"]}), on="level_1")["buyer"].to_list() == ["Ann"] * 2
    if has_pyarrow:
        assert {str(bulkcat.products(pa.array(TITLES)).schema.field(c).type) for c in TEXTS} == {"string"}


@pytest.mark.parametrize("has_pyarrow", [True, False])
def test_categorical(has_pyarrow, monkeypatch):
    monkeypatch.setattr(_frames, "_has_pyarrow", lambda: has_pyarrow)
    frames = [bulkcat.products(pd.Series(TITLES), categorical=True, shape=shape) for shape in ("top", "long")]
    assert {str(f[c].dtype) for f in frames for c in TEXTS} == {"category"}
    result = bulkcat.products(pl.Series(TITLES), categorical=True)
    assert all(result[c].dtype == pl.Categorical for c in TEXTS)
    if has_pyarrow:
        table = bulkcat.products(pa.array(TITLES), categorical=True)
        assert all(pa.types.is_dictionary(table.schema.field(c).type) for c in TEXTS)


def test_lists_have_answers():
    answers = bulkcat.products(t for t in TITLES)
    assert [a.status for a in answers] == STATUSES
    assert answers[0].category_id == "1217" and answers[0].levels[0] == "Hardware" and answers[0].value == answers[0].categories[0].value
    assert answers[1].value is None and answers[1].categories == () and answers[1].level_1 is None
    assert answers[0].level_2 == answers[0].categories[0].level_2 == "Tools" and answers[0].level_7 is None
    (local,) = bulkcat.products(["steel drill"], language="de", source_columns=True)
    assert local.value_local == local.categories[0].value_local and "Hardware" not in local.value_local and local.source == "embedded"
    assert bulkcat.products([]) == []


def test_several_columns_and_classifications():
    frame = pd.DataFrame({"brand": ["football", None, None], "site": ["news.com", "cooking recipes", None]})
    result = bulkcat.websites(frame, ["site", "brand"], join="-", classification=["taxonomy_v3", "naics"], fetch="never", prefix="x_")
    assert [c for c in result.columns if c.endswith("_status")] == ["x_taxonomy_v3_status", "x_naics_status"]
    assert "x_naics_title" in result.columns and list(result["x_naics_status"])[2] == "blank"


def test_equal_rows_are_not_multiplied():
    frame = pd.DataFrame({"title": ["steel drill"] * 3, "id": [1, 1, 1]}, index=[0, 0, 0])
    assert len(bulkcat.products(frame, "title")) == 3


REFUSED = {
    "a name that is taken": (pd.DataFrame({"title": ["a"], "status": [1]}), "title", {}, "a column 'status'"),
    "no such column": (pd.DataFrame({"title": ["a"]}), "titel", {}, "no column 'titel': did you mean 'title'"),
    "a column in another case": (pa.table({"Title": ["a"], "b": ["b"]}), "title", {}, "did you mean 'Title'"),
    "a column like no other": (pa.table({"Title": ["a"], "b": ["b"]}), "xyz", {}, "no column 'xyz'; the columns are: Title, b"),
    "a name twice": (pd.DataFrame([["a", "b"]], columns=["t", "t"]), "t", {}, "there are several columns 't'"),
    "a name twice in DuckDB": (duckdb.sql("SELECT 'a' AS t, 1 AS d, 2 AS D"), "t", {}, "several columns 'd'"),
    "a name that is taken in DuckDB": (duckdb.sql("SELECT 'a' AS t, 1 AS Status"), "t", {}, "a column 'Status'"),
    "a name in another language": (pl.DataFrame({"t": ["a"], "value_local": [1]}), "t", {"language": "de"}, "a column 'value_local'"),
    "no columns": (pa.table({}), None, {}, "which column has the products"),
    "which column": (pl.DataFrame({"a": ["x"], "b": ["y"]}), None, {}, "which column has the products"),
    "an unknown option": (["a"], None, {"min_confidense": 1}, "did you mean 'min_confidence'"),
    "a misspelt argument": (["a"], None, {"outptu": "a.csv"}, "did you mean 'output'"),
    "an option of files": (pl.DataFrame({"a": ["x"]}), None, {"limit": 3}, "'limit' has no meaning for a frame"),
    "a value of an option": (["a"], None, {"rate": "fast"}, '"fast" is not a rate'),
    "numbers": (pa.table({"a": [1.5]}), None, {}, "the type double, and not text"),
    "objects": (pd.DataFrame({"a": ["x", 1.5]}, dtype="object"), None, {}, "1.5 in row 1"),
    "bytes": (pd.DataFrame({"a": [b"y"]}, dtype="object"), None, {}, "b'y' in row 0, and not text"),
    "objects in a list": (["x", 1.5], None, {}, "1.5 in row 1"),
    "a shape of texts": (["a"], None, {"shape": "long"}, "'shape' has no meaning for texts"),
    "classifications of texts": (["a"], None, {"classification": "a,b"}, "one classification"),
    "a path": ("titles.csv", None, {}, "needs output="),
    "no frame": (3, None, {}, "and not builtins.int"),
    "categories of texts": (["a"], None, {"categorical": True}, "texts have Answers"),
    "categories of a file": ("titles.csv", None, {"categorical": True, "output": "out.csv"}, "files have texts"),
    "a title that is taken": (pd.DataFrame({"t": ["a"], "title": [1]}), "t", {"classification": "naics"}, "a column 'title'"),
    "an option of an output": (pl.DataFrame({"a": ["x"]}), None, {"overwrite": True}, "no meaning for a frame without an output"),
    "resume without an output": (["a"], None, {"resume": False}, "for a call with an output"),
    "an option with its place": (["a"], None, {"notify_format": "x"}, "^notify_format: "),
    "a value of no type": (["a"], None, {"rate": object}, "cannot be"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(case):
    data, name, options, message = REFUSED[case]
    with pytest.raises(bulkcat.UsageError, match=message):
        bulkcat.products(data, name, **options)


@pytest.mark.parametrize("values", [[float("nan")] * 2, pd.Categorical([None, None]), [pd.NaT, None]])
def test_columns_without_a_value(values):
    assert list(bulkcat.products(pd.DataFrame({"a": values}))["status"]) == ["blank"] * 2


def test_whole_numbers_are_texts():
    assert list(bulkcat.products(pd.DataFrame({"a": [5, 6]}))["status"]) == list(
        bulkcat.products(pd.DataFrame({"a": ["5", "6"]}))["status"]
    )


@pytest.mark.parametrize(
    "order", ["pandas, bulkcat", "bulkcat, pandas, bulkcat.pandas", "polars, bulkcat", "bulkcat, polars, bulkcat.polars"]
)
def test_namespaces_in_any_order(order):
    import subprocess
    import sys

    library = "polars" if "polars" in order else "pandas"
    code = f"import {order}\nprint(list({library}.DataFrame({{'title': ['steel drill']}}).bulkcat.products('title')['status']))"
    assert subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True).stdout == "['ok']\n"


def test_variables_of_files_do_not_count(monkeypatch):
    monkeypatch.setenv("BULKCAT_LIMIT", "1")
    monkeypatch.setenv("BULKCAT_OUTPUT_FORMAT", "csv")
    monkeypatch.setenv("BULKCAT_MIN_CONFIDENCE", "0.99")
    result = bulkcat.products(pd.DataFrame({"title": TITLES}))
    assert list(result["status"]) == [s.replace("ok", "empty") for s in STATUSES]


def test_no_file_is_left(state):
    bulkcat.products(pd.DataFrame({"title": TITLES}))
    assert [p.name for p in state.iterdir() if p.name.lstrip(".").startswith("python")] == []


def test_own_taxonomy(tmp_path):
    (tmp_path / "acme.csv").write_text("id,path\nt1,Workshop > Drills\nk1,Kitchen > Skillets\n")
    own = {"taxonomy": f"product_taxonomy_custom_acme={tmp_path / 'acme.csv'}"}
    result = bulkcat.products(pd.DataFrame({"title": TITLES}), classification="product_taxonomy_custom_acme", **own)
    assert list(result["status"]) == STATUSES
    assert list(result["value"][[0, 3]]) == ["Workshop > Drills", "Kitchen > Skillets"]
    assert list(result["category_id"][[0, 3]]) == ["t1", "k1"] and list(result["level_1"][[0, 3]]) == ["Workshop", "Kitchen"]
    assert bulkcat.product("steel drill", **own).value == "Workshop > Drills"
    with pytest.raises(bulkcat.UsageError, match=r"none\.csv"):
        bulkcat.products(["steel drill"], taxonomy="product_taxonomy_custom_acme=none.csv")


TAKEN = {
    "a first level of columns": pd.DataFrame([["a", 1]], columns=pd.MultiIndex.from_tuples([("t", ""), ("status", "x")])),
    "an empty second level": pd.DataFrame([["a", 1]], columns=pd.MultiIndex.from_tuples([("t", ""), ("status", "")])),
    "a deep level": pd.DataFrame([["a", 1]], columns=["t", "level_12"]),
    "a deep level of Polars": pl.DataFrame({"t": ["a"], "level_12": [1]}),
}


@pytest.mark.parametrize("case", TAKEN)
def test_columns_are_not_replaced(case):
    frame = TAKEN[case]
    with pytest.raises(bulkcat.UsageError, match="the frame has a column"):
        bulkcat.products(frame, next(iter(frame.columns)), levels=12)


def test_names_that_occur_twice_come_back():
    frame = pd.DataFrame([["steel drill", "x", "y"]], columns=["t", "d", "d"])
    pd.testing.assert_frame_equal(bulkcat.products(frame, "t").iloc[:, :3], frame)
    table = pa.table([["steel drill"], ["x"], ["y"]], names=["t", "d", "d"])
    assert bulkcat.products(table, "t").select([0, 1, 2]).equals(table)


@pytest.mark.parametrize("shape", ["top", "nested", "long"])
@pytest.mark.parametrize("kind", FRAMES)
def test_frames_without_rows(kind, shape):
    if kind == "pandas":
        frame = pd.DataFrame({"title": pd.Series([], dtype="str")})
    elif kind == "duckdb":
        frame = duckdb.sql("SELECT 'a' AS title WHERE false")
    else:
        frame = FRAMES[kind](["a"])
        frame = frame.limit(0) if kind == "polars lazy" else frame[:0]
    result = bulkcat.products(frame, shape=shape)
    assert column(result, "status") == [] and column(result, "record" if shape == "long" else "title") == []


NULLS = {
    "no rows": pd.DataFrame({"t": pd.Series([], dtype="float64")}),
    "numbers": pd.DataFrame({"t": [float("nan")]}),
    "numbers of Polars": pl.DataFrame({"t": pl.Series([None], dtype=pl.Float64)}),
    "objects of several types": pd.DataFrame({"t": pd.Series([None, pd.NA, pd.NaT, float("nan"), "a", 2**70], dtype="object")}),
}


@pytest.mark.parametrize("case", NULLS)
def test_nulls_of_other_types(case):
    frame = NULLS[case]
    want = ["blank"] * 4 if "objects" in case else ["blank"] * len(frame)
    assert list(bulkcat.products(frame)["status"])[:4] == want


def test_classifications_of_the_environment(monkeypatch):
    monkeypatch.setenv("BULKCAT_CLASSIFICATION", "taxonomy_v3,naics")
    result = bulkcat.websites(pd.DataFrame({"site": ["news.com"]}), fetch="never")
    assert [c for c in result.columns if c.endswith("_status")] == ["taxonomy_v3_status", "naics_status"]
