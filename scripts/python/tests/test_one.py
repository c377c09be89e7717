"""One input at a time."""

import os
import time

import pytest

import bulkcat
from bulkcat import _one


def test_answers_are_those_of_lists():
    titles = ["steel drill", "", "N/A", "a\nb shoe", "cast iron skillet 🙂", "x" * 100_000, None, float("nan"), 5]
    assert [bulkcat.product(t) for t in titles] == bulkcat.products(titles)
    assert bulkcat.website("football-news.com", fetch="never").status == "ok"
    industry = bulkcat.website("football-news.com", classification="naics", fetch="never")
    assert industry.title and industry.value == industry.category_id == industry.level_5


def test_one_program_answers_all():
    bulkcat.product("steel drill")
    program = next(iter(_one._waiting.values()))
    began = time.monotonic()
    for i in range(20):
        assert bulkcat.product(f"steel drill {i}").status == "ok"
    assert time.monotonic() - began < 2  # the second answer has 100 ms, on a busy machine too
    assert [*_one._waiting.values()] == [program]
    for name in ("top", "min_confidence", "levels"):
        bulkcat.product("steel drill", **{name: 1})
    assert len(_one._waiting) == 2
    bulkcat.products(["steel drill"])
    assert not _one._waiting


def test_program_that_was_killed():
    bulkcat.product("steel drill")
    next(iter(_one._waiting.values()))._process.kill()
    with pytest.raises(bulkcat.Error, match="signal 9"):
        bulkcat.product("steel drill")
    assert bulkcat.product("steel drill").status == "ok"


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork")
def test_fork():
    bulkcat.product("steel drill")
    pid = os.fork()
    if pid == 0:
        os._exit(0 if bulkcat.product("cast iron skillet").category_id == "662" else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert bulkcat.product("steel drill").category_id == "1217"


def test_hosted_answers_are_stored(hosted):
    for _ in range(2):
        assert bulkcat.product("steel drill").value == "Hardware > Tools > s"
    assert hosted.asked == ["steel drill"] and not _one._waiting
    assert bulkcat.products(["steel drill"])[0].status == "ok"
    assert len(hosted.asked) == 1
    hosted.quota = 1
    with pytest.raises(bulkcat.Stopped, match="quota"):
        bulkcat.product("hammer")
    hosted.quota, hosted.rejected = 10, {"nail"}
    bulkcat.product("hammer")
    assert bulkcat.product("nail").status == "rejected"


@pytest.mark.parametrize(
    ("options", "message"),
    [({"rat": 1}, "did you mean 'rate'"), ({"limit": 1}, "no meaning for one input"), ({"classification": "naics"}, "^classification: ")],
)
def test_refused(options, message):
    with pytest.raises(bulkcat.UsageError, match=message):
        bulkcat.product("steel drill", **options)
    with pytest.raises(bulkcat.UsageError, match=r"^the input has \['a'\], and not text"):
        bulkcat.product(["a"])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="Windows has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_forked_process_does_not_hold_the_program():
    bulkcat.product("steel drill")
    (asker,) = _one._waiting.values()
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(read, 1)
        os._exit(0)
    try:
        asker._process.stdin.close()
        assert asker._process.wait(10) == 0
    finally:
        os.write(write, b".")
        os.waitpid(child, 0)
        os.close(read)
        os.close(write)
