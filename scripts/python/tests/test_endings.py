"""How calls end, and what the next call asks."""

import asyncio
import dataclasses
import datetime
import gc
import json
import logging
import os
import pathlib
import random
import select
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from conftest import KEY

import bulkcat
from bulkcat import _binary, _flags, _frames, _progress

TITLES = [f"steel drill {i}" for i in range(20)]
FRAME = pd.DataFrame({"title": TITLES})

# A call in a process of its own, which can be killed.
CALL = (
    "import pandas as pd, bulkcat; bulkcat.products(pd.DataFrame({'title': [f'steel drill {i}' for i in range(20)]}), 'title', workers=1)"
)


def statuses(frame):
    return {name: int(n) for name, n in frame["status"].astype(str).value_counts().items()}


def test_second_call_asks_nothing(hosted, state):
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert statuses(bulkcat.products(pd.DataFrame({"title": [*TITLES, "hammer"]}))) == {"ok": 21}
    assert sorted(hosted.asked) == sorted([*TITLES, "hammer"])
    store = bulkcat.store()
    assert store.path == str(state / "answers.db") and store.bytes > 0 and store.answers == 21
    store.delete("hammer")
    assert store.answers == 20
    store.delete()
    assert not os.path.exists(store.path)
    bulkcat.products(FRAME)
    assert len(hosted.asked) == 41


def test_store_named(hosted, state, tmp_path):
    for _ in range(2):
        bulkcat.products(FRAME, store=tmp_path / "mine")
    assert len(hosted.asked) == 20 and not (state / "answers.db").exists()
    assert bulkcat.store(tmp_path / "mine").answers == 20


def test_forecast(hosted):
    bulkcat.products(FRAME[:5])
    forecast = bulkcat.products(pd.DataFrame({"title": [*TITLES, None, TITLES[0]]}), dry_run=True)
    assert forecast.outlook["requests"] == 15 and forecast.inputs == TITLES[:10]
    assert dataclasses.replace(forecast, outlook={}, inputs=[]) == bulkcat.Forecast(
        records=22, invalid=0, blank=1, distinct=20, repeated=1, answered=5, refresh=0, saved=0, saved_by_host=0, saved_by_domain=0,
        to_ask=15, outlook={}, inputs=[], column="title", quota_left=hosted.quota - 5,
    )  # fmt: skip
    assert len(hosted.asked) == 5


def test_quota(hosted, caplog):
    hosted.quota = 7
    with pytest.raises(bulkcat.Stopped, match="quota") as caught:
        bulkcat.products(FRAME)
    stopped = caught.value
    assert [(r.name, r.levelname) for r in caplog.records if "the quota is not enough" in r.message] == [("bulkcat", "WARNING")]
    assert stopped.counts["ok"] == 7 == len(hosted.asked)
    assert statuses(stopped.result()) == {"ok": 7, "pending": 13}
    hosted.quota = 100
    assert statuses(stopped.resume()) == {"ok": 20}
    assert sorted(hosted.asked) == sorted(TITLES)


def test_broken_expectation(hosted):
    with pytest.raises(bulkcat.Broken, match="rows >= 1000 is") as caught:
        bulkcat.products(TITLES, expect=["rows >= 1000", "ok >= 50%"])
    assert [e["met"] for e in caught.value.expectations] == [False, True]
    assert caught.value.account["ending"] == "complete"
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert sorted(hosted.asked) == sorted(TITLES)


def test_forecast_names_the_columns_of_the_frame(tmp_path):
    two = pd.DataFrame({"brand": ["Bosch"], "product title": ["drill"], ("a", 1): ["x"]})
    for data, column, want in [
        (FRAME, None, "title"),
        (FRAME["title"], None, "title"),
        (two, "product title", "product title"),
        (two, ["brand", "product title"], "brand, product title"),
        (two, [("a", 1)], "('a', 1)"),
        (TITLES, None, "input"),
    ]:
        for output in [{}, {"output": tmp_path / "out.csv"}]:
            assert bulkcat.products(data, column, dry_run=True, **output).column == want
    FRAME.to_csv(tmp_path / "in.csv", index=False)
    assert bulkcat.products(tmp_path / "in.csv", dry_run=True).column == "title"


def test_cost(hosted):
    forecast = bulkcat.products(TITLES, dry_run=True, price=0.25, price_currency="EUR")
    assert forecast.cost == {"price": {"request": 0.25, "currency": "EUR"}, "spent": 5.0, "saved": 0.0}
    assert forecast.outlook["requests"] == 20 and forecast.repeated == 0
    with pytest.raises(bulkcat.Stopped):
        bulkcat.products(TITLES, price=0.0000025, max_cost=0.00001)
    assert len(hosted.asked) == 4


def test_budget(hosted):
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products(TITLES, max_requests=3)
    assert [a.status for a in caught.value.result()].count("pending") == 17
    assert len(hosted.asked) == 3
    for bound, asked in [(None, 3), (3, 3), (8, 8)]:
        with pytest.raises(bulkcat.Spent):
            caught.value.resume(max_requests=bound)
        assert len(hosted.asked) == asked
    assert [a.status for a in caught.value.resume(max_requests=25)] == ["ok"] * 20
    assert sorted(hosted.asked) == sorted(TITLES)


@pytest.mark.parametrize("store", [False, True], ids=["", "store"])
@pytest.mark.parametrize("given", ["argument", "variable", "cost", "job", "output"])
def test_budget_is_that_of_a_call_and_its_resumptions(hosted, monkeypatch, tmp_path, given, store):
    options = {"workers": 1, "price": 0.1} | ({"store": tmp_path / "answers.db"} if store else {})
    first, larger = {"max_requests": 5}, {"max_requests": 12}
    if given == "cost":
        first, larger = {"max_cost": 0.5}, {"max_cost": 1.2}
    elif given == "variable":
        monkeypatch.setenv("BULKCAT_MAX_REQUESTS", "5")
        first = {}
    elif given == "output":
        options["output"] = tmp_path / "out.csv"
    with pytest.raises(bulkcat.Spent) as caught:
        if given == "job":
            bulkcat.submit(FRAME, kind="product", **first, **options).result()
        else:
            bulkcat.products(FRAME, **first, **options)
    assert ("a new call without output= has its own" in str(caught.value)) == (given != "output")
    for bounds, asked in [({}, 5), ({}, 5), (larger, 12), ({}, 12)]:
        with pytest.raises(bulkcat.Spent) as again:
            caught.value.resume(**bounds)
        caught = again
        assert len(hosted.asked) == asked
    if given != "output":
        assert statuses(caught.value.result()) == {"ok": 12, "pending": 8}
        with pytest.raises(bulkcat.Spent):  # another run, with a budget of its own
            bulkcat.products(FRAME, **first, **options)
        assert len(hosted.asked) == 17
    monkeypatch.delenv("BULKCAT_MAX_REQUESTS", raising=False)
    done = caught.value.resume(**{name: 10 * bound for name, bound in larger.items()})
    assert (done.counts["ok"] if given == "output" else statuses(done)["ok"]) == 20 == len(hosted.asked)
    assert not list(tmp_path.glob("state/bulkcat/*python-*"))


def test_time_is_that_of_a_call_and_its_resumptions(hosted):
    with pytest.raises(bulkcat.Stopped, match="deadline") as caught:
        bulkcat.products(FRAME, finish_by=2 * SECOND, rate=5)
    assert hosted.requests < 20
    with pytest.raises(bulkcat.Stopped, match="deadline") as again:
        caught.value.resume()
    assert again.value.account["finish_by"]["at"] == caught.value.account["finish_by"]["at"]
    assert statuses(caught.value.resume(finish_by=60 * SECOND)) == {"ok": 20}


def test_wrong_key(hosted):
    with pytest.raises(bulkcat.Misconfigured, match="403"):
        bulkcat.products(FRAME, api_key="another")
    with pytest.raises(bulkcat.Misconfigured, match="403"):
        bulkcat.product("drill", api_key="another")
    assert hosted.asked == []


DEAD = {
    "one input": lambda **options: bulkcat.product("drill", **options),
    "texts": lambda **options: bulkcat.products(["a", "b"], **options),
}


@pytest.mark.parametrize("case", DEAD)
def test_dead_service(case):
    """A short list ends as a long one does: the service is out, and no record has failed."""
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    with pytest.raises(bulkcat.Stopped, match="outage"):
        DEAD[case](base_url=url, api_key=KEY, max_outage="1s", max_attempts=1, keep_going=True)


# The exception of each kind of failure, in all functions.
FAILURES = {
    "usage with a wrong key": (lambda: bulkcat.usage(api_key="another"), bulkcat.Misconfigured, "403"),
    "usage of no service": (lambda: bulkcat.usage(base_url="ftp://a"), bulkcat.UsageError, "check base_url= or"),
    "usage with a wrong option": (lambda: bulkcat.usage(timeout="-1s"), bulkcat.UsageError, "^timeout: "),
    "a forecast with a wrong option": (
        lambda: bulkcat.products(FRAME, rate="fast", dry_run=True),
        bulkcat.UsageError,
        '^rate: "fast" is not a rate',
    ),
    "explain of no kind": (lambda: bulkcat.explain("film", "a"), bulkcat.UsageError, "film"),
    "top of no file": (lambda: bulkcat.top("none.csv"), bulkcat.Error, "none.csv"),
    "report of no file": (lambda: bulkcat.report("none.csv"), bulkcat.Error, "none.csv"),
    "verify of no file": (lambda: bulkcat.verify("none.csv"), bulkcat.Error, "none.csv"),
    "diff of no file": (lambda: bulkcat.diff("none.csv", "none.csv"), bulkcat.Error, "none.csv"),
    "a store that is not there": (lambda: bulkcat.store("none").answers, bulkcat.Error, "none"),
    "deletion in a store that is not there": (lambda: bulkcat.store("none").delete("a"), bulkcat.Error, "none"),
}


@pytest.mark.parametrize("case", FAILURES)
def test_failures(case, hosted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    call, kind, message = FAILURES[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert type(caught.value) is kind and "--" not in str(caught.value) and "{" not in str(caught.value)


@pytest.mark.parametrize("call", [lambda: bulkcat.usage(), lambda: bulkcat.products(FRAME, dry_run=True), lambda: bulkcat.top("a.csv")])
def test_other_programs(call, monkeypatch):
    monkeypatch.setenv("BULKCAT_BINARY", "/bin/echo")
    with pytest.raises(bulkcat.Error, match="printed no JSON: see BULKCAT_BINARY"):
        call()
    monkeypatch.setenv("BULKCAT_BINARY", "/no/program")
    with pytest.raises(bulkcat.UsageError, match="BULKCAT_BINARY: there is no program"):
        call()


@pytest.mark.parametrize(
    "variable", ["EXPECT=records >= 1000", "LOG_FORMAT=text", "DEBUG=true", "QUIET=true", "SHAPE=long", "PARTIAL=true"]
)
def test_variables_of_one_input(variable, monkeypatch):
    name, value = variable.split("=", 1)
    monkeypatch.setenv("BULKCAT_" + name, value)
    assert bulkcat.product("steel drill").status == "ok"
    with pytest.raises(bulkcat.UsageError, match=r"^classification: "):
        bulkcat.product("steel drill", classification="naics")


SECOND = datetime.timedelta(seconds=1)
ZONE = datetime.timezone(datetime.timedelta(hours=9))

OPTIONS = {
    "a number as a rate": ({"rate": 2}, "--rate=2/s"),
    "a fraction as a rate": ({"fetch_rate": 0.5}, "--fetch-rate=0.5/s"),
    "no limit": ({"rate": 0}, "--rate=0"),
    "a text as a rate": ({"rate": "600/m"}, "--rate=600/m"),
    "a number as a duration": ({"timeout": 1.5}, "--timeout=1.5s"),
    "a duration": ({"max_outage": 90 * SECOND}, "--max-outage=90.000000s"),
    "days": ({"max_age": datetime.timedelta(days=30)}, "--max-age=2592000.000000s"),
    "a duration as a deadline": ({"finish_by": 60 * SECOND}, "--finish-by=60.000000s"),
    "a path": ({"store": pathlib.Path("a")}, "--store=a"),
    "a small number": ({"max_cost": 0.00001}, "--max-cost=0.00001"),
    "a number of NumPy": ({"max_requests": np.int64(1000)}, "--max-requests=1000"),
}


@pytest.mark.parametrize("case", OPTIONS)
def test_flags_of_options(case):
    options, flag = OPTIONS[case]
    assert _flags.flags(options) == [flag]


@pytest.mark.parametrize("zone", [None, ZONE])
def test_deadline_as_a_time(zone, hosted):
    now = datetime.datetime.now(zone)
    (flag,) = _flags.flags({"finish_by": now + 3600 * SECOND})
    assert 3590 < float(flag.removeprefix("--finish-by=").removesuffix("s")) <= 3600
    assert bulkcat.products(["drill"], finish_by=now + 3600 * SECOND, max_age=SECOND, timeout=60 * SECOND, rate=1000)[0].status == "ok"
    with pytest.raises(bulkcat.UsageError, match="finish_by: this time is over"):
        bulkcat.products(["drill"], finish_by=now - SECOND)
    with pytest.raises(bulkcat.UsageError, match="'rate' cannot be"):
        bulkcat.products(["drill"], rate=SECOND)


def test_no_key(hosted, monkeypatch):
    monkeypatch.delenv("BULKCAT_API_KEY")
    with pytest.raises(bulkcat.UsageError, match="no API key"):
        bulkcat.products(FRAME)


def test_rows_without_an_answer_are_rows(hosted):
    hosted.rejected = {TITLES[1]}
    hosted.broken = {TITLES[2]}
    result = bulkcat.products(FRAME, max_attempts=1)
    assert list(result["status"]) == ["ok", "rejected", "failed"] + ["ok"] * 17
    assert "400" in result["error"][1] and "500" in result["error"][2]


def until(condition):
    """Wait for a condition, for half a minute."""
    deadline = time.monotonic() + 30
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.01)


@pytest.fixture
def interruptible():
    """Ctrl-C interrupts, also where the shell has started the tests with the signal ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def interrupt(hosted, folder, times=1):
    """Interrupt this process after five answers; the run is finishing when the service answers again."""

    def press():
        hosted.held.wait(30)
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: any('"finishing"' in path.read_text() for path in folder.glob(".*.run/status.json")))
        if times == 1:
            hosted.release.set()
        else:
            os.kill(os.getpid(), signal.SIGINT)

    hosted.hold_after = 5
    threading.Thread(target=press).start()


INTERRUPTED = {
    "a frame": (FRAME, lambda result: statuses(result)),
    "texts": (TITLES, lambda result: {s: [a.status for a in result].count(s) for s in ("ok", "pending")}),
}


@pytest.mark.parametrize("kind", INTERRUPTED)
def test_interrupt_returns_what_is_there(kind, hosted, state, interruptible, caplog):
    data, count = INTERRUPTED[kind]
    interrupt(hosted, state)
    result = bulkcat.products(data, workers=1)
    assert "interrupted: rows without an answer" in warnings_of(caplog)[-1]
    paid = len(hosted.asked)
    assert 5 <= paid < 20 and count(result) == {"ok": paid, "pending": 20 - paid}
    assert count(bulkcat.products(data))["ok"] == 20
    assert sorted(hosted.asked) == sorted(TITLES)


def test_interrupt_with_an_output(hosted, tmp_path, interruptible):
    interrupt(hosted, tmp_path)
    with pytest.raises(bulkcat.Stopped, match="interrupted") as caught:
        bulkcat.products(FRAME, output=tmp_path / "out.parquet", workers=1)
    assert caught.value.interrupted and not (tmp_path / "out.parquet").exists()
    assert caught.value.resume().counts["ok"] == 20
    assert sorted(hosted.asked) == sorted(TITLES)


def test_second_interrupt_kills_the_run(hosted, state, interruptible):
    interrupt(hosted, state, times=2)
    with pytest.raises(KeyboardInterrupt):
        bulkcat.products(FRAME, workers=1)
    hosted.release.set()
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}


def test_interrupt_of_what_is_there(monkeypatch):
    stopped = bulkcat.Stopped("interrupted", {})
    stopped.interrupted = True
    monkeypatch.setattr(bulkcat._run, "run", lambda *_, **__: (_ for _ in ()).throw(stopped))
    with pytest.raises(KeyboardInterrupt):
        bulkcat.products(FRAME, partial=True)


def stored(state):
    """The number of records of a run whose answers are on disk."""
    return sum(json.loads(path.read_text())["records"] for path in state.glob(".python-*.run/status.json"))


def child_of(pid):
    """The program that a process has started."""
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{entry}/stat") as file:
                if file.read().rsplit(")", 1)[1].split()[1] == str(pid):
                    return int(entry)
        except OSError:
            continue
    raise AssertionError("no child")


linux = pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")


@linux
def test_kill_of_python(hosted, state, start):
    hosted.hold_after = 5
    process = start(CALL)
    assert hosted.held.wait(60)
    process.kill()
    process.wait()
    hosted.release.set()  # the request in flight ends, as the program does
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert sorted(hosted.asked) == sorted(TITLES)
    assert [p.name for p in state.iterdir() if p.name.lstrip(".").startswith("python")] == []


@linux
def test_leftovers_of_a_run_that_writes_its_account(hosted, state):
    """A run has ended, and writes its account a little later: the next call waits for it, and leaves none of the files."""
    dead = subprocess.Popen(["true"])
    dead.wait()
    name = f"python-{dead.pid}-00000000.parquet"
    (state / f".{name}.run").mkdir(parents=True)
    (state / f"{name}.tmp").touch()
    program = subprocess.Popen(["sleep", "60"])
    try:
        (state / f".{name}.run" / "status.json").write_text(json.dumps({"pid": program.pid, "state": "ended"}))
        late = threading.Timer(0.5, (state / f"{name}.run.json").touch)
        late.start()
        assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
        late.join()
        assert [p.name for p in state.iterdir() if p.name.lstrip(".").startswith("python")] == []
    finally:
        program.kill()
        program.wait()


@linux
def test_kill_of_the_program(hosted, state, start):
    hosted.hold_after = 5
    process = start(CALL)
    assert hosted.held.wait(60)
    until(lambda: stored(state) >= 5)
    os.kill(child_of(process.pid), signal.SIGKILL)
    told = process.communicate(timeout=60)[1]
    assert "bulkcat._errors.Error: the program was ended by signal 9" in told
    assert len(hosted.asked) == 5
    hosted.release.set()
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert len(hosted.asked) in (20, 21)  # the request in flight is answered for nobody, if its connection still is


@linux
def test_key_is_on_no_command_line(service, start):
    code = CALL.replace(
        "workers=1", f"workers=1, base_url={service.url!r}, api_key=open('/dev/stdin').read(), header='Authorization: a-header'"
    )
    service.hold_after = 0
    process = start(code)
    process.stdin.write(KEY)
    process.stdin.close()
    process.stdin = None
    assert service.held.wait(60)
    program = child_of(process.pid)
    with open(f"/proc/{program}/cmdline") as file:
        line = file.read()
    assert "--header-file" in line and KEY not in line and "a-header" not in line
    service.release.set()


@pytest.mark.parametrize("call", [bulkcat.products, bulkcat.websites, bulkcat.product, bulkcat.website])
def test_key_is_in_no_traceback(service, call):
    service.refusal = 403
    try:
        call("a.com" if call in (bulkcat.product, bulkcat.website) else ["a.com"], base_url=service.url, api_key=KEY, header=["X: " + KEY])
    except bulkcat.Misconfigured as error:
        told = traceback.TracebackException.from_exception(error, capture_locals=True)
        frames = [f for f in told.stack if f.filename != __file__]
        assert len(frames) > 3
        assert KEY not in repr([f.locals for f in frames]) + str(error) + repr(error) + repr(vars(error))
    else:
        pytest.fail("no error")


def test_files(hosted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("titles.csv", index=False)
    run = bulkcat.products("titles.csv", "title", output="out.parquet", shape="top", resume=False)
    assert run.path == "out.parquet" and run.counts["ok"] == 20 and repr(run) == "Run('out.parquet', ok=20)"
    with pytest.raises(bulkcat.UsageError, match="overwrite=True"):
        bulkcat.products("titles.csv", "title", output="out.parquet", shape="top", resume=False)
    assert bulkcat.verify("out.parquet", "titles.csv").balanced
    assert bulkcat.top("out.parquet")[0].coverage[0].records == 20
    assert bulkcat.report("out.parquet")
    other = bulkcat.products(FRAME[:10], output=tmp_path / "frame.parquet")
    assert other.counts["requests"] == 0 and bulkcat.diff("out.parquet", other.path).changes["removed"] == 10
    assert len(hosted.asked) == 20
    assert bulkcat.usage() == bulkcat.Usage("test", hosted.quota - 20)
    assert bulkcat.explain("product", "steel drill")
    with pytest.raises(bulkcat.Error, match=r"none\.parquet"):
        bulkcat.top("none.parquet")


DATA = {"a frame": lambda: (FRAME, FRAME[:10]), "texts": lambda: (TITLES, TITLES[:10]), "a file": lambda: ("one.csv", "two.csv")}


@pytest.mark.parametrize("output", ["out.csv", "out/"])
@pytest.mark.parametrize("kind", DATA)
def test_outputs_are_not_replaced(kind, output, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("one.csv", index=False)
    FRAME[:10].to_csv("two.csv", index=False)
    first, second = DATA[kind]()
    before = bulkcat.products(first, output=output, top=1).account["outputs"]
    refused = [
        (lambda: bulkcat.products(first, output=output, top=1, resume=False), "exists: use overwrite=True"),
        (lambda: bulkcat.products(second, output=output, top=1), r"the input was .* and is .*\): use overwrite=True"),
        (lambda: bulkcat.products(first, output=output, top=2), "top= was 1 and is 2.* use overwrite=True"),
    ]
    for call, message in refused:
        with pytest.raises(bulkcat.Error, match=message) as caught:
            call()
        assert ".input" not in str(caught.value)
    assert bulkcat.products(first, output=output, top=1).account["outputs"] == before
    for resume in (True, False):
        assert bulkcat.products(second, output=output, top=1, overwrite=True, resume=resume).counts["ok"] == 10
    monkeypatch.setenv("BULKCAT_OVERWRITE", "true")
    assert bulkcat.products(first, output=output, top=1).counts["ok"] == 20


def test_a_file_of_the_user_is_not_replaced(tmp_path):
    (tmp_path / "mine.csv").write_text("mine")
    with pytest.raises(bulkcat.Error, match="use overwrite=True to replace it"):
        bulkcat.products(FRAME, output=tmp_path / "mine.csv")
    assert (tmp_path / "mine.csv").read_text() == "mine"


def test_options_of_an_output_count_for_frames(tmp_path, monkeypatch):
    run = bulkcat.products(FRAME, output=tmp_path / "out", output_format="jsonl")
    assert json.loads((tmp_path / "out").read_text().splitlines()[0])["input"] == TITLES[0] and run.counts["ok"] == 20
    monkeypatch.setenv("BULKCAT_OUTPUT_FORMAT", "csv")
    bulkcat.products(FRAME, output=tmp_path / "other")
    assert (tmp_path / "other").read_text().startswith("record,")


def test_forecast_knows_the_answers_of_an_output(hosted, tmp_path):
    bulkcat.products(FRAME, output=tmp_path / "out.csv")
    assert bulkcat.products(FRAME, output=tmp_path / "out.csv", dry_run=True).answered == 20
    assert bulkcat.products(FRAME, dry_run=True).answered == 20


def test_stopped_file(hosted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("titles.csv", index=False)
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products("titles.csv", output="out/", max_requests=4)
    partial = caught.value.result()
    assert partial.counts["ok"] == 4 and partial.counts["pending"] == 16
    assert repr(partial) == "Run('out/', ok=4, pending=16)"


@pytest.mark.parametrize("output", ["out.parquet", "out/"])
def test_frame_with_an_output_is_continued(hosted, tmp_path, monkeypatch, output):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products(FRAME, output=output, max_requests=4)
    hosted.asked.clear()
    with pytest.raises(bulkcat.Stopped):
        caught.value.resume()
    run = bulkcat.products(FRAME, output=output)
    assert run.counts["ok"] == 20 and len(hosted.asked) == 16
    assert bulkcat.products(FRAME, output=output).counts["requests"] == 0
    assert not list(tmp_path.glob(".*input*"))


def test_shards(hosted, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("titles.csv", index=False)
    with pytest.raises(bulkcat.Spent) as caught:
        bulkcat.products("titles.csv", output="out/", shard="1/2", max_requests=4)
    assert caught.value.counts["ok"] == 2
    runs = [caught.value.resume(max_requests=100), bulkcat.products("titles.csv", output="out/", shard="2/2")]
    assert [run.path for run in runs] == ["out/shard=01-of-2/", "out/shard=02-of-2/"]
    assert sum(run.counts["ok"] for run in runs) == len(hosted.asked) == 20
    assert sorted(record for run in runs for record in pa.table(run)["record"].to_pylist()) == list(range(1, 21))


@pytest.mark.parametrize("output", ["s3://bucket/out.csv", "s3://bucket/out/"])
@pytest.mark.parametrize("kind", ["a frame", "a file"])
def test_output_in_object_storage(kind, output, hosted, bucket, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv("titles.csv", index=False)
    data = FRAME if kind == "a frame" else "titles.csv"
    with pytest.raises(bulkcat.Spent) as caught:
        bulkcat.products(data, "title", output=output, max_requests=4)
    assert caught.value.counts["ok"] == 4
    run = caught.value.resume(max_requests=100)
    assert run.path == output and run.counts["ok"] == 20
    assert f"/bucket/{output[12:].rstrip('/')}.run.json" in bucket
    assert bulkcat.products(data, "title", output=output).counts["requests"] == 0 and len(hosted.asked) == 20


def test_embedded_service_has_bounds():
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products(FRAME, max_requests=5)
    assert set(statuses(caught.value.result())) <= {"ok", "pending"}


def warnings_of(caplog):
    return [r.message for r in caplog.records if r.name == "bulkcat" and r.levelno == logging.WARNING]


def test_warnings_and_notices_are_logged(tmp_path, caplog):
    (tmp_path / "empty.csv").write_text("title\n")
    with caplog.at_level("INFO", "bulkcat"):
        bulkcat.products(tmp_path / "empty.csv", "title", output=tmp_path / "out.csv")
    assert any("no records" in text for text in warnings_of(caplog))
    assert any("The embedded service answers" in r.message for r in caplog.records if r.levelno == logging.INFO)
    assert not any("summary" in r.message for r in caplog.records)


def test_progress_is_logged_without_a_terminal(hosted, monkeypatch, caplog):
    monkeypatch.setattr(_progress, "_LOG_EVERY", 0)
    hosted.hold_after = 10
    follow = _progress._Logged.draw

    def draw(bar, progress):
        follow(bar, progress)
        if progress.total:
            hosted.release.set()

    monkeypatch.setattr(_progress._Logged, "draw", draw)
    with caplog.at_level("INFO", "bulkcat"):
        bulkcat.products(FRAME)
    assert [r.name for r in caplog.records if "/20 records" in r.message]
    caplog.clear()
    bulkcat.products(FRAME, progress=False)
    assert not [r for r in caplog.records if "records" in r.message]


def test_progress_is_logged_each_minute(monkeypatch, caplog):
    clock = [0.0]
    monkeypatch.setattr(_progress.time, "monotonic", lambda: clock[0])
    bar = _progress._Logged()
    progress = _progress.of({"records": 1, "requests": 1, "state": "asking"})
    with caplog.at_level("INFO", "bulkcat"):
        for clock[0] in range(0, 200, 10):
            bar.draw(progress)
    assert len(caplog.records) == 3


def test_progress(hosted, capsys):
    hosted.hold_after = 10
    threading.Timer(1.5, hosted.release.set).start()
    bulkcat.products(FRAME, progress=True)
    assert "records" in capsys.readouterr().err
    bulkcat.products(FRAME, progress=False)
    assert capsys.readouterr().err == ""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no pseudo-terminals")
def test_progress_without_tqdm(hosted, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    hosted.hold_after = 10
    ours, theirs = os.openpty()
    told = [b""]

    def read():
        while not told[0].endswith(b"\r\x1b[K") and select.select([ours], [], [], 30)[0]:
            told[0] += os.read(ours, 1 << 16)
            if b" requests, quota " in told[0]:
                hosted.release.set()

    thread = threading.Thread(target=read)
    thread.start()
    with open(theirs, "w") as stream, monkeypatch.context() as patched:
        patched.setattr(sys, "stderr", stream)
        bulkcat.products(FRAME)
        thread.join()
    os.close(ours)
    assert told[0].startswith(b"\r") and b" records, " in told[0] and told[0].endswith(b"\r\x1b[K")


def test_no_progress_without_a_terminal_and_tqdm(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    bulkcat.products(FRAME, progress=True)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("more", "want"),
    [
        ({}, "1,000 records, 5 requests"),
        ({"total": 4000}, " 25% [#####               ] 1,000/4,000 records, 5 requests"),
        ({"total": 900}, "100% [####################] 1,000/900 records, 5 requests"),
        ({"records_per_second": 49.7, "seconds_left": 3723.4}, "1,000 records, 50/s, 1:02:03 left, 5 requests"),
        ({"quota_left": 0, "state": "quota_pause"}, "1,000 records, 5 requests, quota 0, quota_pause"),
    ],
)
def test_line_of_progress(more, want):
    assert str(_progress.of({"records": 1000, "requests": 5, "state": "asking", **more})) == want


def test_unusable_state_folder(monkeypatch, service, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}  # nothing is paid, and nothing is kept
    for call in (bulkcat.products, bulkcat.product):
        with pytest.raises(bulkcat.UsageError, match=r"state folder.* store="):
            call("drill" if call is bulkcat.product else FRAME, base_url=service.url, api_key=KEY)
    assert service.asked == []


@pytest.mark.parametrize("home", [None, "", "relative"])
def test_no_home(home, hosted, tmp_path, monkeypatch):
    """As in a container whose user has no entry in /etc/passwd."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_STATE_HOME")
    monkeypatch.delenv("HOME") if home is None else monkeypatch.setenv("HOME", home)
    for call in (lambda: bulkcat.products(FRAME), lambda: bulkcat.product("drill"), bulkcat.store):
        with pytest.raises(bulkcat.UsageError, match=r"state folder.* store="):
            call()
    assert hosted.asked == [] and list(tmp_path.iterdir()) == []
    with pytest.raises(bulkcat.UsageError, match=r"state folder.* store="):
        bulkcat.products(FRAME, output="out.parquet")
    assert hosted.asked == []
    assert bulkcat.products(FRAME, output="out.parquet", store="answers.db").counts["ok"] == 20
    assert bulkcat.products(FRAME, output="out.parquet", store="answers.db", dry_run=True).answered == 20
    assert statuses(bulkcat.products(FRAME, store="answers.db")) == {"ok": 20}
    monkeypatch.setenv("BULKCAT_STORE", "answers.db")
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert len(hosted.asked) == 20
    monkeypatch.delenv("BULKCAT_BASE_URL")
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert {path.name.split(".")[0] for path in tmp_path.iterdir()} == {"out", "answers"}


@pytest.mark.parametrize("name", ["-x.csv", "--help", "--"])
def test_path_like_a_flag(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv(tmp_path / name, index=False)
    assert bulkcat.products(name, "title", output="out.csv", input_format="csv").counts["ok"] == 20


def test_program_without_an_account(monkeypatch):
    monkeypatch.setenv("BULKCAT_BINARY", "/bin/true")
    with pytest.raises(bulkcat.Error, match="without the account"):
        bulkcat.products(FRAME)


URL_WITH_A_KEY = "http://user:" + KEY + "@127.0.0.1:9/?key=" + KEY

WITH_A_KEY = {
    "an address": lambda url: bulkcat.products(FRAME, base_url=URL_WITH_A_KEY, rate="fast"),
    "an address for texts": lambda url: bulkcat.product("drill", base_url=URL_WITH_A_KEY, api_key="x", profile="none"),
    "an address of a command": lambda url: bulkcat.usage(base_url=URL_WITH_A_KEY, api_key="x", profile="none"),
    "an address in a misspelt place": lambda url: bulkcat.top("out.csv", **{"base_url": URL_WITH_A_KEY}),
    "a key without an address": lambda url: bulkcat.product("drill", api_key=KEY, rate="fast"),
    "half of a pair": lambda url: bulkcat.products(FRAME, api_key=KEY + "\ud800"),
    "a misspelt option": lambda url: bulkcat.products(FRAME, **{"apikey": KEY}),
    "a misspelt header": lambda url: bulkcat.product("drill", **{"headers": ["x-api-key: " + KEY]}),
    "a misspelt option of a command": lambda url: bulkcat.usage(base_url=url, **{"apikey": KEY}),
    "a command": lambda url: bulkcat.usage(base_url=url + "/no", api_key=KEY),
    "no program": lambda url: bulkcat.products(FRAME, base_url=url, api_key=KEY),
}


@pytest.mark.parametrize("case", WITH_A_KEY)
def test_key_is_not_among_the_variables_of_a_traceback(case, service, monkeypatch):
    if case == "no program":
        monkeypatch.setenv("BULKCAT_BINARY", "/no/program")
    service.refusal = 401
    with pytest.raises(bulkcat.Error) as caught:
        WITH_A_KEY[case](service.url)
    text = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    assert KEY not in text
    if "misspelt" in case:
        assert "there is no option" in text


def test_another_call_with_the_same_output(hosted, tmp_path):
    hosted.hold_after = 5
    output = tmp_path / "out.parquet"

    def other():
        hosted.held.wait(30)
        try:
            with pytest.raises(bulkcat.Error, match="is writing"):
                bulkcat.products(FRAME[:3], output=output)
        finally:
            hosted.release.set()

    thread = threading.Thread(target=other)
    thread.start()
    assert bulkcat.products(FRAME, output=output, workers=1).counts["ok"] == 20
    thread.join()
    assert [path.name for path in tmp_path.glob(".*")] == []


@pytest.mark.skipif(os.name == "nt", reason="uses the shell")
def test_another_call_before_the_first_has_read_its_rows(tmp_path, monkeypatch):
    started, go, program = (tmp_path / name for name in ("started", "go", "program"))
    os.mkfifo(started)
    os.mkfifo(go)
    program.write_text(f'#!/bin/sh\necho > {started}\nread line < {go}\nexec {_binary.find()} "$@"\n')
    program.chmod(0o755)
    monkeypatch.setenv("BULKCAT_BINARY", str(program))
    output = tmp_path / "out.parquet"

    def other():
        started.read_text()
        try:
            with pytest.raises(bulkcat.Error, match="another call is writing"):
                bulkcat.products(FRAME[:3], output=output)
        finally:
            go.write_text("\n")

    thread = threading.Thread(target=other)
    thread.start()
    assert bulkcat.products(FRAME, output=output).counts["ok"] == 20
    thread.join()


@linux
def test_kill_of_python_with_an_output(hosted, tmp_path, start, monkeypatch):
    monkeypatch.chdir(tmp_path)
    hosted.hold_after = 5
    process = start(CALL.replace("workers=1", "workers=1, output='out.parquet'"))
    assert hosted.held.wait(60)
    program = child_of(process.pid)
    process.kill()
    process.wait()
    hosted.release.set()
    until(lambda: not os.path.exists(f"/proc/{program}/fd/0"))
    assert (tmp_path / ".out.parquet.input.lock").exists()
    assert bulkcat.products(FRAME, output="out.parquet").counts["ok"] == 20
    assert sorted(hosted.asked) == sorted(TITLES)
    assert [path.name for path in tmp_path.glob(".*")] == []


MISSPELT = {
    "verify": (lambda o: bulkcat.verify("out.csv", **o), "stor", "'store'"),
    "diff": (lambda o: bulkcat.diff("a.csv", "b.csv", **o), "overwite", "'overwrite'"),
    "top": (lambda o: bulkcat.top("out.csv", **o), "mosts", "'most'"),
    "top without a near name": (lambda o: bulkcat.top("out.csv", **o), "zzzzzz", "there are: level, most"),
    "explain": (lambda o: bulkcat.explain("product", "drill", **o), "taxonomi", "'taxonomy'"),
    "usage": (lambda o: bulkcat.usage(**o), "timout", "'timeout'"),
    "usage with an option of runs": (lambda o: bulkcat.usage(**o), "max_requests", "there is no option"),
}


@pytest.mark.parametrize("case", MISSPELT)
def test_misspelt_options_of_commands(case, monkeypatch):
    monkeypatch.setenv("BULKCAT_BINARY", "/bin/false")  # is not run
    call, name, message = MISSPELT[case]
    with pytest.raises(bulkcat.UsageError, match=message):
        call({name: KEY})


HALF = "half \ud800"

UNENCODABLE = {
    "a text": lambda: bulkcat.products(["a", HALF]),
    "one text": lambda: bulkcat.product(HALF),
    "an object": lambda: bulkcat.products(pd.DataFrame({"t": pd.Series(["a", HALF], dtype="object")})),
    "an option": lambda: bulkcat.products(FRAME, rate=HALF),
    "an option in a list": lambda: bulkcat.products(FRAME, classification=["a", HALF]),
    "a header": lambda: bulkcat.products(FRAME, header=HALF),
    "a prefix": lambda: bulkcat.products(FRAME, prefix=HALF),
    "an output": lambda: bulkcat.products(FRAME, output=HALF + ".csv"),
    "a path": lambda: bulkcat.products(HALF + ".csv", output="out.csv"),
    "a column of a file": lambda: bulkcat.products("in.csv", HALF, output="out.csv"),
    "an operand": lambda: bulkcat.verify(HALF + ".csv"),
    "an option of a command": lambda: bulkcat.explain("product", "drill", classification=HALF),
    "an input of the store": lambda: bulkcat.store("answers").delete(HALF),
    "a NUL in an option": lambda: bulkcat.products(FRAME, rate="\0"),
    "a NUL in a path": lambda: bulkcat.products(FRAME, output="out\0.csv"),
    "a NUL in a key": lambda: bulkcat.products(FRAME, api_key="\0"),
}


@pytest.mark.parametrize("case", UNENCODABLE)
def test_texts_that_no_program_can_be_given(case):
    with pytest.raises(bulkcat.UsageError, match=r"half of a pair of surrogates|a NUL character"):
        UNENCODABLE[case]()


@linux
def test_folders_whose_names_are_no_utf8(tmp_path, monkeypatch):
    folder = os.path.join(tmp_path, os.fsdecode(b"\xff"))
    monkeypatch.setenv("XDG_STATE_HOME", folder)
    for data in (FRAME, TITLES):
        with pytest.raises(bulkcat.UsageError, match=r"the state folder .* no UTF-8"):
            bulkcat.products(data, base_url="http://127.0.0.1:9", api_key=KEY)
    assert not os.path.exists(folder)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    os.mkdir(folder)
    with pytest.raises(bulkcat.UsageError, match=r"the output .* no UTF-8"):
        bulkcat.products(FRAME, output=folder + "/out.parquet")
    FRAME.to_csv(folder + "/in.csv", index=False)
    assert bulkcat.products(folder + "/in.csv", output=folder + "/out.csv").counts["ok"] == 20


def test_generator_that_raises_half_way(hosted):
    def titles():
        yield "steel drill"
        raise RuntimeError("half way")

    with pytest.raises(RuntimeError, match="half way"):
        bulkcat.products(titles())
    assert hosted.requests == 0


def test_threads():
    results = {}

    def call(i):
        results[i] = [bulkcat.products([TITLES[i], "sofa"])[0].category_id, bulkcat.product(TITLES[i], top=i % 3 + 1).category_id]

    threads = [threading.Thread(target=call, args=[i]) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: ["1217", "1217"] for i in range(8)}


def finishing(folder):
    """Whether the run has been told to stop."""
    return any('"finishing"' in path.read_text() or '"ended"' in path.read_text() for path in folder.glob(".*.run/status.json"))


def cancel(job):
    job.cancel()


def leave(job):
    with pytest.raises(RuntimeError, match="in the block"), job:
        raise RuntimeError("in the block")


def cancel_task(job):
    async def cancelled():
        task = asyncio.create_task(wait_for(job))
        await asyncio.sleep(0.01)  # the task waits
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    async def wait_for(job):
        return await job

    asyncio.run(cancelled())


@pytest.mark.parametrize("way", [cancel, leave, cancel_task])
def test_cancelled_job_sends_no_requests(way, hosted, state):
    hosted.hold_after = 5
    job = bulkcat.submit(FRAME, "title", kind="product", workers=3)
    assert hosted.held.wait(60)
    until(lambda: hosted.requests == 8)  # five are answered, and three in flight
    assert not job.wait(0)
    releaser = threading.Thread(target=lambda: (until(lambda: finishing(state)), hosted.release.set()))
    releaser.start()
    way(job)
    assert job.wait(60)
    releaser.join()
    assert hosted.requests == len(hosted.asked) == 8
    with pytest.raises(bulkcat.Stopped, match="interrupted") as caught:
        job.result()
    assert statuses(caught.value.result()) == {"ok": 8, "pending": 12}
    assert statuses(caught.value.resume()) == {"ok": 20}
    assert sorted(hosted.asked) == sorted(TITLES)


def test_cancelled_task_is_no_error_of_the_loop(hosted):
    hosted.hold_after = 5
    told = []

    async def wait_for(job):
        return await job

    async def cancelled():
        asyncio.get_running_loop().set_exception_handler(lambda _, context: told.append(context))
        job = bulkcat.submit(FRAME, "title", kind="product", workers=3)
        task = asyncio.create_task(wait_for(job))
        await asyncio.to_thread(hosted.held.wait, 60)
        task.cancel()
        hosted.release.set()
        await asyncio.wait([task])
        assert task.cancelled() and await asyncio.to_thread(job.wait, 60)
        await asyncio.sleep(0)  # the end of the job reaches the loop
        del job, task
        gc.collect()

    asyncio.run(cancelled())
    assert not told


def test_job(hosted, tmp_path):
    hosted.hold_after = 5
    job = bulkcat.submit(FRAME, "title", kind="product", output=tmp_path / "out.csv", workers=1)
    assert hosted.held.wait(60)
    until(lambda: job.progress is not None and job.progress.records == 5)
    assert job.progress.total == 20 and job.progress.state == "asking" and "5/20 records" in repr(job)
    hosted.release.set()
    assert job.wait() and job.result().counts["ok"] == 20 and job.progress.records == 20 and repr(job) == "Job(ended)"
    job.cancel()  # has no effect
    assert job.result().path == str(tmp_path / "out.csv")
    with bulkcat.submit(TITLES, kind="product") as second:
        assert [answer.status for answer in second.result()] == ["ok"] * 20
    assert len(hosted.asked) == 20


def test_awaited_jobs():
    async def both():
        jobs = [bulkcat.submit([title], kind="product") for title in ("steel drill", "cast iron skillet")]
        return [(await job)[0].category_id for job in jobs]

    assert asyncio.run(both()) == ["1217", "662"]


def test_job_that_is_cancelled_before_it_begins(hosted, monkeypatch):
    begin = threading.Event()
    send = _frames.send
    monkeypatch.setattr(_frames, "send", lambda *arguments: begin.wait(60) and send(*arguments))
    job = bulkcat.submit(FRAME, "title", kind="product")
    job.cancel()
    begin.set()
    with pytest.raises(bulkcat.Stopped, match="before it began") as caught:
        job.result()
    assert hosted.requests == 0 and statuses(caught.value.resume()) == {"ok": 20}


REFUSED_JOBS = {
    "a kind": ({"kind": "film"}, "kind is 'film'"),
    "an option": ({"kind": "product", "rat": 1}, "did you mean 'rate'"),
    "a path alone": ({"kind": "product", "data": "titles.csv"}, "needs output="),
}


@pytest.mark.parametrize("case", REFUSED_JOBS)
def test_jobs_refused(case):
    options, message = REFUSED_JOBS[case]
    with pytest.raises(bulkcat.UsageError, match=message):
        bulkcat.submit(**{"data": FRAME, **options}).result()


@pytest.mark.skipif(os.name == "nt", reason="Windows does not remove the working folder")
def test_removed_working_folder(tmp_path, monkeypatch):
    (tmp_path / "gone").mkdir()
    monkeypatch.chdir(tmp_path / "gone")
    (tmp_path / "gone").rmdir()
    assert bulkcat.product("steel drill").category_id == "1217"
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}
    assert bulkcat.products(FRAME, output=tmp_path / "out.csv").counts["ok"] == 20
    for call in (
        lambda: bulkcat.products(FRAME, output="out.csv"),
        lambda: bulkcat.products("in.csv", output="out.csv"),
        lambda: bulkcat.store("answers"),
        lambda: bulkcat.top("out.csv"),
    ):
        with pytest.raises(bulkcat.Error):
            call()


@pytest.mark.parametrize("data", [FRAME, "titles.csv"])
def test_empty_list_of_columns(data):
    with pytest.raises(bulkcat.UsageError, match=r"^column=\[\] names no column"):
        bulkcat.products(data, [], output="out.csv")


@pytest.fixture
def mount(tmp_path):
    """Mounts a file system in memory in a new folder, with options of mount."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("mount needs root on Linux")
    folders = []

    def mounted(options):
        folder = tmp_path / f"disk{len(folders)}"
        folder.mkdir()
        made = subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(folder)], capture_output=True, text=True)
        if made.returncode != 0:
            pytest.skip("mount is refused: " + made.stderr.strip())
        folders.append(folder)
        return folder

    yield mounted
    for folder in folders:
        subprocess.run(["umount", str(folder)], check=True)


@pytest.mark.parametrize("place", ["of the state", "of the output"])
def test_full_disk(place, hosted, mount, tmp_path, monkeypatch):
    disk = mount("size=256k")
    if place == "of the state":
        monkeypatch.setenv("XDG_STATE_HOME", str(disk))
    options = {"output": disk / "out.parquet", "store": tmp_path / "answers"} if place == "of the output" else {}
    titles = pd.DataFrame({"title": [f"steel drill {i} {random.Random(i).randbytes(2000).hex()}" for i in range(200)]})
    with pytest.raises((OSError, bulkcat.Error), match=r"[Nn]o space left"):
        bulkcat.products(titles, **options)
    assert not (disk / "out.parquet").exists() and not list(disk.glob("*/python-*"))
    subprocess.run(["mount", "-o", "remount,size=64m", str(disk)], check=True)
    result = bulkcat.products(titles, **options)
    assert (result.counts["ok"] if options else statuses(result)["ok"]) == 200
    assert sorted(hosted.asked) == sorted(titles["title"])


def test_read_only_home(service, mount, monkeypatch):
    home = mount("size=64k,ro")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("XDG_STATE_HOME")
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}  # nothing is paid, and nothing is kept
    with pytest.raises(bulkcat.UsageError, match=r"Read-only file system.* store="):
        bulkcat.products(FRAME, base_url=service.url, api_key=KEY)
    assert service.asked == []
    result = bulkcat.products(FRAME, base_url=service.url, api_key=KEY, store=home.parent / "answers")
    assert statuses(result) == {"ok": 20}
