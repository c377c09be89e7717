"""How calls end, and what the next call asks."""

import json
import os
import signal
import sys
import threading
import time
import traceback

import pandas as pd
import pytest
from conftest import KEY

import bulkcat

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
    assert store.path == str(state / "bulkcat.answers") and store.bytes > 0 and store.answers == 21
    store.delete("hammer")
    assert store.answers == 20
    store.delete()
    assert not os.path.exists(store.path)
    bulkcat.products(FRAME)
    assert len(hosted.asked) == 41


def test_store_named(hosted, state, tmp_path):
    for _ in range(2):
        bulkcat.products(FRAME, store=tmp_path / "mine")
    assert len(hosted.asked) == 20 and not state.exists()
    assert bulkcat.store(tmp_path / "mine").answers == 20


def test_forecast(hosted):
    bulkcat.products(FRAME[:5])
    forecast = bulkcat.products(pd.DataFrame({"title": [*TITLES, None, TITLES[0]]}), dry_run=True)
    assert forecast == bulkcat.Forecast(22, 1, 20, 5, 0, 0, 15, str(hosted.quota - 5))
    assert len(hosted.asked) == 5


def test_quota(hosted):
    hosted.quota = 7
    with pytest.warns(UserWarning, match="the quota is not enough"), pytest.raises(bulkcat.Stopped, match="quota") as caught:
        bulkcat.products(FRAME)
    stopped = caught.value
    assert stopped.counts["ok"] == 7 == len(hosted.asked)
    assert statuses(stopped.result()) == {"ok": 7, "pending": 13}
    hosted.quota = 100
    assert statuses(stopped.resume()) == {"ok": 20}
    assert sorted(hosted.asked) == sorted(TITLES)


def test_budget(hosted):
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products(TITLES, max_requests=3)
    assert [a.status for a in caught.value.result()].count("pending") == 17
    assert len(hosted.asked) == 3
    with pytest.raises(bulkcat.Stopped):
        caught.value.resume()
    assert len(hosted.asked) == 6


def test_wrong_key(hosted):
    with pytest.raises(bulkcat.Misconfigured, match="403"):
        bulkcat.products(FRAME, api_key="another")
    with pytest.raises(bulkcat.Misconfigured, match="403"):
        bulkcat.product("drill", api_key="another")
    assert hosted.asked == []


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


def test_interrupt(hosted, state, interruptible):
    hosted.hold_after = 5

    def interrupt():
        hosted.held.wait(30)
        os.kill(os.getpid(), signal.SIGINT)
        until(lambda: any('"finishing"' in path.read_text() for path in state.glob("python-*.status.json")))
        hosted.release.set()

    threading.Thread(target=interrupt).start()
    with pytest.raises(bulkcat.Stopped, match="interrupted") as caught:
        bulkcat.products(FRAME, workers=1)
    paid = len(hosted.asked)
    assert caught.value.counts["ok"] == paid < 20
    assert statuses(caught.value.result())["ok"] == paid
    assert statuses(caught.value.resume()) == {"ok": 20}
    assert sorted(hosted.asked) == sorted(TITLES)


def stored(state):
    """The number of records of a run whose answers are on disk."""
    return sum(json.loads(path.read_text())["records"] for path in state.glob("python-*.status.json"))


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
    assert bulkcat.verify("out.parquet", "titles.csv")["balanced"]
    assert bulkcat.top("out.parquet")[0]["records"] == 20
    assert bulkcat.report("out.parquet")
    other = bulkcat.products(FRAME[:10], output=tmp_path / "frame.parquet", store="bulkcat.answers")
    assert other.counts["requests"] == 0 and bulkcat.diff("out.parquet", other.path)["changes"]["removed"] == 10
    assert len(hosted.asked) == 20
    assert bulkcat.usage() == {"plan": "test", "remaining": str(hosted.quota - 20)}
    assert bulkcat.explain("product", "steel drill")
    with pytest.raises(bulkcat.Error, match=r"none\.parquet"):
        bulkcat.top("none.parquet")


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


def test_embedded_service_has_bounds():
    with pytest.raises(bulkcat.Stopped) as caught:
        bulkcat.products(FRAME, max_requests=5)
    assert set(statuses(caught.value.result())) <= {"ok", "pending"}


def test_warnings_are_python_warnings(tmp_path):
    (tmp_path / "empty.csv").write_text("title\n")
    with pytest.warns(UserWarning, match="no records") as caught:
        bulkcat.products(tmp_path / "empty.csv", "title", output=tmp_path / "out.csv")
    assert [w.filename for w in caught] == [__file__]


def test_progress(hosted, capsys):
    hosted.hold_after = 10
    threading.Timer(1.5, hosted.release.set).start()
    bulkcat.products(FRAME, progress=True)
    assert "records" in capsys.readouterr().err
    bulkcat.products(FRAME, progress=False)
    assert capsys.readouterr().err == ""


def test_unusable_state_folder(monkeypatch, service, tmp_path):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "file"))
    assert statuses(bulkcat.products(FRAME)) == {"ok": 20}  # nothing is paid, and nothing is kept
    with pytest.raises(OSError):
        bulkcat.products(FRAME, base_url=service.url, api_key=KEY)
    assert service.asked == []


@pytest.mark.parametrize("name", ["-x.csv", "--help", "--"])
def test_path_like_a_flag(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    FRAME.to_csv(tmp_path / name, index=False)
    assert bulkcat.products(name, "title", output="out.csv", input_format="csv").counts["ok"] == 20


def test_program_without_an_account(monkeypatch):
    monkeypatch.setenv("BULKCAT_BINARY", "/bin/true")
    with pytest.raises(bulkcat.Error, match="without the account"):
        bulkcat.products(FRAME)


WITH_A_KEY = {
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
    with pytest.raises((bulkcat.Error, FileNotFoundError)) as caught:
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
