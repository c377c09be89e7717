"""The operator in Airflow: its task runner, scheduler logic, triggers and database."""

import asyncio
import contextlib
import datetime
import importlib.util
import itertools
import json
import os
import pathlib
import signal
import socket
import subprocess
import sys
import tempfile
import time

import pytest

HOME = tempfile.TemporaryDirectory(prefix="bulkcat-airflow-")  # Airflow reads it when it is imported
os.environ |= {
    "AIRFLOW_HOME": HOME.name,
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
}

from airflow.sdk import Connection  # noqa: E402
from conftest import KEY  # noqa: E402 (AIRFLOW_HOME comes first)

import bulkcat.airflow  # noqa: E402

TITLES = [f"title {number}" for number in range(25)]


@pytest.fixture(scope="module", autouse=True)
def database():
    """Airflow's database, which never holds the key."""
    subprocess.run([sys.executable, "-m", "airflow", "db", "migrate"], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    yield
    want_no_key(HOME.name)
    HOME.cleanup()


def want_no_key(home):
    for path in pathlib.Path(home).rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path


@pytest.fixture(autouse=True)
def folder(service, tmp_path, monkeypatch):
    """A list, and a Connection to the service."""
    (tmp_path / "in.csv").write_text("title\n" + "\n".join(TITLES) + "\n")
    connection = {"conn_type": "http", "host": service.url, "password": KEY}
    monkeypatch.setenv("AIRFLOW_CONN_SHOP", json.dumps(connection))
    return tmp_path


DAG = """
import datetime, json, pathlib
from airflow.sdk import DAG, task
from bulkcat.airflow import BulkcatOperator

folder = pathlib.Path({folder!r})
with DAG({name!r}, schedule={schedule!r}, start_date=datetime.datetime(2026, 1, 1)) as dag:
    operator = BulkcatOperator(
        task_id="categorize",
        kind="product",
        input_path=str(folder / "in.csv"),
        output_path=str(folder / "out.csv"),
        conn_id="shop",
        reschedule_after=datetime.timedelta(seconds={seconds}),
        **{arguments!r},
    )

    @task
    def keep(account):
        (folder / "account.json").write_text(json.dumps(account))

    keep(operator.output)
"""


def write_dag(home, folder, name, schedule=None, seconds=0.1, **arguments):
    """Write a DAG in a file of Airflow's folder. Its second task writes the account that the first has handed over."""
    path = pathlib.Path(home, "dags", name + ".py")
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(DAG.format(folder=str(folder), name=name, schedule=schedule, seconds=seconds, arguments=arguments))
    return path


def dag_of(folder, name, **arguments):
    """A DAG of this process."""
    path = write_dag(HOME.name, folder, name, **arguments)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.dag


def want_complete(run, service, folder):
    assert run.state == "success"
    want_all(service, folder)


def want_all(service, folder):
    assert json.loads((folder / "account.json").read_text())["counts"]["ok"] == len(TITLES)
    assert sorted(service.asked) == sorted(TITLES)  # each once


def test_success(service, folder):
    want_complete(dag_of(folder, "success").test(), service, folder)


def test_stopped_run_is_rescheduled(service, folder, monkeypatch):
    """Each start has a quota of 10."""
    starts, execute = [], bulkcat.airflow.BulkcatOperator.execute

    def refill(*arguments, **named):
        starts.append(len(service.asked))
        service.quota = 10 * len(starts)
        return execute(*arguments, **named)

    monkeypatch.setattr(bulkcat.airflow.BulkcatOperator, "execute", refill)
    want_complete(dag_of(folder, "rescheduled").test(), service, folder)
    assert starts == [0, 10, 20]


def test_spent_budget_is_not_retried(service, folder):
    dag = dag_of(folder, "budget", retries=3, retry_delay=datetime.timedelta(hours=1), options={"max_requests": 10, "workers": 1})
    assert dag.test().state == "failed"
    assert len(service.asked) == 10
    assert not (folder / "account.json").exists()


def refill_later(service, monkeypatch):
    """Give the service new quota once it has said twice that none is left."""
    told, answer = [], service.RequestHandlerClass.answer

    def refill(handler, status, body):
        told.append(body.get("remaining") or status)
        if told.count("0") == 2:
            service.quota = 1000
        answer(handler, status, body)

    monkeypatch.setattr(service.RequestHandlerClass, "answer", refill)


def test_deferred_until_there_is_quota(service, folder, monkeypatch):
    service.quota = 10
    events, resume = [], bulkcat.airflow.BulkcatOperator.resume
    refill_later(service, monkeypatch)
    monkeypatch.setattr(bulkcat.airflow.BulkcatOperator, "resume", lambda *a, **k: events.append(k["event"]) or resume(*a, **k))
    want_complete(dag_of(folder, "quota", deferrable=True).test(), service, folder)
    assert events == [{"quota_left": 990}]


@pytest.mark.parametrize(
    ("connection", "message"),
    [
        ({"password": "another"}, "403"),
        ({"host": ""}, "has no host"),
        ({"password": ""}, "no API key"),
        ({"host": "ftp://a"}, "check base_url="),
    ],
)
def test_trigger_does_not_wait_for_what_fails_for_good(connection, message, service, monkeypatch):
    """The run then says the same, and fails the task: see test_wrong_settings_fail_at_once."""
    connection = {"conn_type": "http", "host": service.url, "password": KEY, **connection}
    monkeypatch.setattr(bulkcat.airflow.BaseHook, "get_connection", staticmethod(lambda name: Connection(conn_id=name, **connection)))
    event = asyncio.run(asyncio.wait_for(anext(bulkcat.airflow.QuotaTrigger("shop", 0.01).run()), 60))
    assert message in event.payload["error"]


@contextlib.contextmanager
def airflow(home):
    """Airflow's scheduler, triggerer, processor of DAGs and server as processes of their own, with SQLite, once the server answers."""
    with contextlib.ExitStack() as sockets:
        ports = [sockets.enter_context(socket.create_server(("127.0.0.1", 0))).getsockname()[1] for _ in range(3)]
    server = f"http://127.0.0.1:{ports[0]}"
    settings = {
        "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]]),  # it starts `airflow`
        "AIRFLOW_HOME": str(home),
        "AIRFLOW__API__BASE_URL": server,
        "AIRFLOW__API__HOST": "127.0.0.1",
        "AIRFLOW__API__PORT": str(ports[0]),
        "AIRFLOW__CORE__DAGS_ARE_PAUSED_AT_CREATION": "False",
        "AIRFLOW__CORE__EXECUTION_API_SERVER_URL": server + "/execution/",
        "AIRFLOW__DAG_PROCESSOR__REFRESH_INTERVAL": "5",  # seconds
        "AIRFLOW__LOGGING__WORKER_LOG_SERVER_PORT": str(ports[1]),
        "AIRFLOW__LOGGING__TRIGGER_LOG_SERVER_PORT": str(ports[2]),
        "AIRFLOW__WORKERS__EXECUTION_API_TIMEOUT": "60",  # seconds; the first answer of the server is slow
    }
    with open(home / "standalone.log", "wb") as log:
        command = [sys.executable, "-m", "airflow", "standalone"]
        process = subprocess.Popen(command, env=os.environ | settings, stdout=log, stderr=log, start_new_session=True)
        try:
            deadline = time.monotonic() + 240
            while True:  # a task that starts before the server fails
                assert process.poll() is None and time.monotonic() < deadline, (home / "standalone.log").read_text()
                with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", ports[0])):
                    break
                time.sleep(0.2)
            yield process
        finally:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(60)
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()


@pytest.mark.parametrize("deferrable", [True, False], ids=["deferred", "rescheduled"])
def test_scheduler_and_triggerer(deferrable, service, folder, monkeypatch):
    """The first start ends with the quota, and the last is complete."""
    service.quota = 18
    refill_later(service, monkeypatch)
    home = folder / "airflow"
    home.mkdir()
    with airflow(home) as process:
        write_dag(home, folder, "nightly", schedule="@once", seconds=2, deferrable=deferrable)
        deadline = time.monotonic() + 240
        while not (folder / "account.json").exists():
            assert process.poll() is None and time.monotonic() < deadline, (home / "standalone.log").read_text()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.2)
    want_all(service, folder)
    account = json.loads((folder / "account.json").read_text())
    starts = [*account["earlier"], account]
    endings = [start["ending"] for start in starts]
    assert endings[-1] == "complete" and set(endings[:-1]) == {"quota"}
    for before, after in itertools.pairwise(starts):
        waited = datetime.datetime.fromisoformat(after["started"]) - datetime.datetime.fromisoformat(before["ended"])
        assert waited >= datetime.timedelta(seconds=2)
    assert bool(list(home.glob("logs/**/*.trigger.*.log"))) == deferrable
    want_no_key(home)


@pytest.mark.parametrize("signal_number", [signal.SIGTERM, signal.SIGINT], ids=["on_kill", "Ctrl-C"])
def test_killed_task_stops_softly(service, folder, start, signal_number):
    service.hold_after = 3
    dag = dag_of(folder, "killed", options={"workers": 2})
    process = start(f"import runpy, sys; sys.exit(runpy.run_path({dag.fileloc!r})['dag'].test().state)")
    assert service.held.wait(60)
    process.send_signal(signal_number)
    while process.poll() is None and not finishing(folder):
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(0.05)
    service.release.set()
    assert "failed" in process.communicate(timeout=60)[1]
    answered = len(service.asked)
    assert 3 <= answered < len(TITLES)
    service.hold_after = 10**9
    want_complete(dag_of(folder, "killed_again").test(), service, folder)


def finishing(folder):
    """Whether the run has been told to stop."""
    try:
        return json.loads((folder / ".out.csv.run" / "status.json").read_text())["state"] == "finishing"
    except (OSError, ValueError):
        return False


def test_wrong_settings_fail_at_once(service, folder):
    service.refusal = 403
    assert dag_of(folder, "refused", retries=3, retry_delay=datetime.timedelta(hours=1)).test().state == "failed"
    assert not (folder / "account.json").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"options": {"api_key": KEY}}, "use a Connection"),
        ({"options": {"header": "X-Key: " + KEY}}, "use a Connection"),
        ({"options": {"ratee": "1/s"}}, "did you mean 'rate'"),
        ({"kind": "film"}, "want website or product"),
    ],
)
def test_refused(arguments, message):
    arguments = {"kind": "product", **arguments}
    with pytest.raises(bulkcat.UsageError, match=message) as caught:
        bulkcat.airflow.BulkcatOperator(task_id="categorize", input_path="in.csv", output_path="out.csv", **arguments)
    assert KEY not in str(caught.value)


def test_dag_of_the_repository():
    sys.path.insert(0, str(pathlib.Path(__file__).parents[3] / "schedulers"))
    from bulkcat_dag import dag

    assert dag.max_active_runs == 1 and not dag.catchup
    assert dag.get_task("products").upstream_task_ids == {"websites"}
