"""The recipes for Dagster, dbt and Prefect in these engines."""

import os
import pathlib
import shutil
import subprocess
import sys

import pytest

import bulkcat

RECIPES = pathlib.Path(__file__).parents[2] / "recipes"
PRODUCTS = 240  # of the sample catalog


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A folder with the sample catalog, which is the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(RECIPES))
    for name in ("DAGSTER_HOME", "PREFECT_HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.setenv("DBT_SEND_ANONYMOUS_USAGE_STATS", "false")
    monkeypatch.setenv("DO_NOT_TRACK", "1")
    subprocess.run([sys.executable, "-m", "bulkcat", "demo", "."], check=True, stdout=subprocess.DEVNULL)
    return tmp_path


def test_dagster(folder):
    import dagster
    from dagster_asset import categories

    result = dagster.materialize([categories])
    metadata = {name: value.value for name, value in result.asset_materializations_for_node("categories")[0].metadata.items()}
    counts = bulkcat.top("catalog.parquet", most=1)[0]
    assert metadata["bulkcat/ok"] == metadata["bulkcat/requests"] == PRODUCTS
    assert metadata["dagster/row_count"] == bulkcat.verify("catalog.parquet").rows > PRODUCTS
    assert metadata["bulkcat/quota_left"] == "None"
    assert metadata["bulkcat/largest"].splitlines()[0] == f"- {counts.categories[0].path}: {counts.categories[0].records}"
    assert len(metadata["bulkcat/largest"].splitlines()) == 5


def test_dagster_retries_a_stopped_run(hosted):
    import dagster
    from dagster_asset import categories

    hosted.quota = 10
    with pytest.raises(dagster.RetryRequested) as caught:
        categories(dagster_asset_config())
    assert (caught.value.max_retries, caught.value.seconds_to_wait) == (24, 3600)
    hosted.quota = 1000
    metadata = categories(dagster_asset_config()).metadata
    assert metadata["bulkcat/ok"] == PRODUCTS
    assert metadata["bulkcat/requests"] == hosted.requests > PRODUCTS  # with those that the quota refused
    assert len(hosted.asked) == len(set(hosted.asked))


def dagster_asset_config():
    from dagster_asset import Catalog

    return Catalog()


def test_dbt(folder):
    import duckdb

    project = folder / "dbt"
    shutil.copytree(RECIPES / "dbt", project)
    command = [pathlib.Path(sys.executable).parent / "dbt", "build", "--project-dir", project, "--profiles-dir", project]
    done = subprocess.run(command, env={**os.environ, "SHOP": str(folder / "shop.duckdb")}, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "PASS=5" in done.stdout, done.stdout  # two models, three tests of data
    with duckdb.connect(str(folder / "shop.duckdb")) as shop:
        rows = shop.sql("select count(*), count(distinct sku), count(category_id) from categories").fetchall()
    assert rows == [(PRODUCTS, PRODUCTS, PRODUCTS)]


def test_prefect(hosted):
    from prefect.testing.utilities import prefect_test_harness
    from prefect_flow import categorize, nightly

    hosted.quota = 10
    with prefect_test_harness(server_startup_timeout=120):
        categorize.retry_delay_seconds = None

        def refill(*_):
            hosted.quota = 1000

        answer = hosted.RequestHandlerClass.answer
        hosted.RequestHandlerClass.answer = lambda handler, status, body: (answer(handler, status, body), status == 402 and refill())
        try:
            counts = nightly()
        finally:
            hosted.RequestHandlerClass.answer = answer
    assert counts["ok"] == PRODUCTS
    assert len(hosted.asked) == len(set(hosted.asked))


def test_prefect_retries_no_other_error(hosted):
    from prefect_flow import stopped

    class State:
        data = bulkcat.Misconfigured("the key is refused")

    assert not stopped(None, None, State)
