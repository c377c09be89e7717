"""Uses of the package, whose types mypy and Pyright check: nothing here is run."""

import datetime
import pathlib
from typing import Any, NoReturn

import duckdb
import pandas as pd
import polars as pl
from typing_extensions import assert_type

import bulkcat

titles = pd.DataFrame({"title": ["steel drill"]})
hour = datetime.timedelta(hours=1)
path = pathlib.Path("catalog.parquet")

# The type of a frame comes back.
assert_type(bulkcat.products(titles), pd.DataFrame)
assert_type(bulkcat.products(titles, "title"), pd.DataFrame)
assert_type(bulkcat.products(titles, ["brand", "title"], join=" - "), pd.DataFrame)
assert_type(bulkcat.products(titles, ("title", "en")), pd.DataFrame)
assert_type(bulkcat.products(titles, 0, categorical=True, prefix="p_"), pd.DataFrame)
assert_type(bulkcat.websites(pl.DataFrame({"site": ["a.com"]}), "site", classification=["naics", "taxonomy_v3"]), pl.DataFrame)
assert_type(bulkcat.products(pl.LazyFrame({"title": ["a"]}), shape="long", top=2).collect(), pl.DataFrame)
assert_type(bulkcat.products(pl.LazyFrame({"title": ["a"]})), pl.LazyFrame)
assert_type(bulkcat.websites(duckdb.table("sites"), fetch="never"), duckdb.DuckDBPyRelation)
assert_type(bulkcat.products(pd.Series(["steel drill"])), pd.DataFrame)
assert_type(bulkcat.products(pl.Series(["steel drill"]), progress=False), pl.DataFrame)

# Texts have answers.
assert_type(bulkcat.products(["steel drill", None]), list[bulkcat.Answer])
assert_type(bulkcat.products(text for text in ("steel drill", "sofa")), list[bulkcat.Answer])
assert_type(bulkcat.websites({"a.com", "b.com"}, rate=50), list[bulkcat.Answer])
assert_type(bulkcat.product("steel drill"), bulkcat.Answer)
one = bulkcat.website("a.com", classification="naics", timeout=hour)
assert_type((one.value, one.level_1, one.confidence, one.title), tuple[str | None, str | None, float | None, str | None])
assert_type(one.categories[0].value + one.categories[0].levels[0], str)
assert_type([answer.status for answer in bulkcat.products(["a"])], list[str])

# With an output the result is a run, whatever the data.
assert_type(bulkcat.products("catalog.csv", "title", output="out/"), bulkcat.Run)
assert_type(bulkcat.products(path, output=path, overwrite=True, part_rows=1000), bulkcat.Run)
assert_type(bulkcat.websites(titles, "title", output=path, resume=False, max_age=30 * 24 * hour), bulkcat.Run)
run = bulkcat.products(["steel drill"], output="out.csv", finish_by=datetime.datetime.now() + hour, store=path)
assert_type(run.path, str)
assert_type(pathlib.Path(run), pathlib.Path)
assert_type(pl.DataFrame(run), pl.DataFrame)
assert_type(run.counts, dict[str, Any])

# A dry run is a forecast, whatever the data.
assert_type(bulkcat.products(titles, dry_run=True), bulkcat.Forecast)
assert_type(bulkcat.websites("a.csv", output="b.csv", dry_run=True, rate="10/s"), bulkcat.Forecast)
assert_type(bulkcat.products(["a"], dry_run=True, max_requests=3).quota_left, int | None)


def either(output: str | None, is_dry: bool) -> None:
    """What is known later has any type."""
    assert_type(bulkcat.products(titles, output=output, dry_run=is_dry), Any)


def refused() -> NoReturn:
    """A path alone, which needs an output."""
    bulkcat.products("catalog.csv")


# A job has the type of the result.
assert_type(bulkcat.submit(titles, "title", kind="product").result(), pd.DataFrame)
assert_type(bulkcat.submit(pl.Series(["a.com"]), kind="website", progress=True).result(), pl.DataFrame)
assert_type(bulkcat.submit("a.csv", kind="product", output="b.csv").wait(2.5), bool)
with bulkcat.submit(["steel drill"], kind="product", rate=10) as job:
    assert_type(job.progress.records if job.progress else 0, int)


async def awaited() -> list[bulkcat.Answer]:
    """The result of a job."""
    return assert_type(await job, list[bulkcat.Answer])


# The commands.
assert_type(bulkcat.usage().remaining, int | None)
assert_type(bulkcat.usage(base_url="https://api.example.com", timeout=2.5).plan, str)
assert_type(bulkcat.verify("out.parquet", path, expect=["ok >= 95%"]).findings[0].record, int)
assert_type(bulkcat.top(path, level=2)[0].categories[0].confidence, float | None)
assert_type(bulkcat.top(path)[0].coverage[0].share, float)
assert_type(bulkcat.diff("old.csv", "new.csv", output="changes.csv").changes["added"], int)
assert_type(bulkcat.diff(path, path).moves[0].inputs, int)
assert_type(bulkcat.report(path), dict[str, Any])
assert_type(bulkcat.explain("product", "red shoes"), dict[str, Any])
assert_type(bulkcat.store().answers, int)

# An error knows its run.
try:
    bulkcat.products(titles, max_cost=10.5, price=0.002, grace=hour)
except bulkcat.Stopped as stopped:
    assert_type(stopped.counts, dict[str, Any])
    stopped.resume(max_requests=20, max_cost=1.5, finish_by=hour)
except bulkcat.Broken as broken:
    assert_type(broken.expectations, list[dict[str, Any]])

# These are errors of types, of which each checker tells if it finds none.
bulkcat.products(titles, rate=hour)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue, reportArgumentType]
bulkcat.products(titles, min_confidense=0.5)  # type: ignore[call-overload]  # pyright: ignore[reportCallIssue]
bulkcat.usage(rate=1)  # type: ignore[call-arg]  # pyright: ignore[reportCallIssue]
bulkcat.explain("film", "a")  # type: ignore[arg-type]  # pyright: ignore[reportArgumentType]
