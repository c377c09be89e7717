"""Objects of the package in other processes."""

import concurrent.futures
import copy
import multiprocessing
import pickle
from collections.abc import Mapping

import joblib
import pandas as pd
import pytest

import bulkcat

SPAWN = multiprocessing.get_context("spawn")
ACCOUNT = {"counts": {"ok": 1}, "expectations": [{"met": False}], "ending": "budget"}


def stopped():
    error = bulkcat.Stopped("stopped early: budget", ACCOUNT)
    error.interrupted = True
    error.add_note("in the night") if hasattr(error, "add_note") else None
    error._again = lambda partial: partial
    return error


OBJECTS = {
    "Stopped": stopped,
    "Spent": lambda: bulkcat.Spent("the budget is spent", ACCOUNT),
    "Broken": lambda: bulkcat.Broken("1 of 1 expectations are not met", ACCOUNT),
    "Misconfigured": lambda: bulkcat.Misconfigured("403"),
    "UsageError": lambda: bulkcat.UsageError("no column"),
    "Error": lambda: bulkcat.Error("failed"),
    "Answer": lambda: bulkcat.product("steel drill"),
    "Category": lambda: bulkcat.product("steel drill").categories[0],
    "Run": lambda: bulkcat.Run("out.csv", ACCOUNT),
    "Forecast": lambda: bulkcat.products(["steel drill"], dry_run=True),
    "Store": bulkcat.store,
    "the namespace": lambda: pd.DataFrame({"title": ["a"]}).bulkcat,
    "a function": lambda: bulkcat.products,
}

COPIES = {"pickle": lambda value: pickle.loads(pickle.dumps(value)), "copy": copy.copy, "deepcopy": copy.deepcopy}


def members(value):
    """What an object shows."""
    shown = {name: getattr(value, name) for name in vars(value) if name not in ("_again", "_frame")} if hasattr(value, "__dict__") else {}
    return type(value), value if isinstance(value, tuple) or callable(value) else None, shown, isinstance(value, Exception) and str(value)


@pytest.mark.parametrize("way", COPIES)
@pytest.mark.parametrize("name", OBJECTS)
def test_copies(name, way):
    value = OBJECTS[name]()
    assert members(COPIES[way](value)) == members(value)


def test_copy_of_an_error_does_not_know_the_call():
    with pytest.raises(bulkcat.Error, match="make the same call again"):
        pickle.loads(pickle.dumps(stopped())).resume()


def test_copy_of_an_error_has_no_secret(hosted):
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products(["a", "b"], max_requests=1, header="X-Key: a-secret")
    assert b"a-secret" not in pickle.dumps(caught.value)
    assert caught.value.resume(max_requests=2)[1].status == "ok"


def call(options: Mapping[str, object]):
    return bulkcat.products(["steel drill", "sofa"], **options)[0].category_id


POOLS = {
    "multiprocessing.Pool": lambda pool, options: pool.apply_async(call, [options]).get(60),
    "concurrent.futures": lambda pool, options: pool.submit(call, options).result(60),
    "joblib": lambda pool, options: pool([joblib.delayed(call)(options)])[0],
}


def pool_of(name):
    if name == "multiprocessing.Pool":
        return SPAWN.Pool(1)
    if name == "joblib":
        return joblib.Parallel(n_jobs=2, timeout=60)
    return concurrent.futures.ProcessPoolExecutor(1, mp_context=SPAWN)


@pytest.mark.parametrize("name", POOLS)
def test_pools(name):
    with pool_of(name) as pool:
        assert POOLS[name](pool, {}) == "1217"
        with pytest.raises(bulkcat.Stopped) as caught:
            POOLS[name](pool, {"max_requests": 1})
        assert caught.value.counts["ok"] == 1
        with pytest.raises(bulkcat.Broken) as broken:
            POOLS[name](pool, {"expect": "records >= 1000"})
        assert broken.value.expectations
        with pytest.raises(bulkcat.UsageError):
            POOLS[name](pool, {"rate": "fast"})
