"""Runs bulkcat.spark.products of the wheel in Spark, with a separate process for each executor, kills an executor and the
Python worker of another, and compares all rows with those of bulkcat alone.

    python test.py BULKCAT UPSTREAM [--rows 100000] [--executors 2]
    python test.py BULKCAT UPSTREAM --rows 20000 --measure 1,2,4   # rows of each executor
"""

import argparse
import contextlib
import datetime
import decimal
import os
import pathlib
import select
import signal
import sys
import tempfile
import threading
import time

import pyarrow as pa
import pyarrow.dataset
import pyarrow.parquet
import pyspark

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "engines"))
os.environ |= {"SPARK_HOME": os.path.dirname(pyspark.__file__), "PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}

from pyspark.sql import SparkSession  # noqa: E402 (the environment comes first)

import bulkcat.spark  # noqa: E402
from servers import KEY, Servers  # noqa: E402


def write_input(path: pathlib.Path, rows: int):
    """Writes rows of many types. A fifth of the titles repeat others, and one of 1,000 is null."""
    numbers = range(rows)
    start = datetime.datetime(2026, 1, 1, tzinfo=datetime.timezone.utc)
    pyarrow.parquet.write_table(pa.table({
        "id": pa.array(numbers, pa.int64()),
        "sku": [None if i % 7 == 0 else f"sku-{i}" for i in numbers],
        "price": pa.array([decimal.Decimal(i) / 100 for i in numbers], pa.decimal128(12, 2)),
        "day": pa.array([(start + datetime.timedelta(days=i % 900)).date() for i in numbers], pa.date32()),
        "seen": pa.array([start + datetime.timedelta(microseconds=i * 1001) for i in numbers], pa.timestamp("us", "UTC")),
        "sizes": pa.array([[i, i + 0.5] if i % 3 else None for i in numbers], pa.list_(pa.float64())),
        "title": [title(i) for i in numbers],
    }), path)


def title(i: int) -> str | None:
    if i % 1000 == 999:
        return None
    if i % 1000 == 998:
        return f'kettle, "1.7 l"\nsteel ☕ {i}'
    return f"oak table number {i // 2 if i % 5 == 0 else i}"


@contextlib.contextmanager
def spark(servers: Servers, executors: int):
    """A session whose executors are processes with one core and 1 GiB each."""
    session = (SparkSession.builder.master(f"local-cluster[{executors},1,1024]").appName("bulkcat")
               .config("spark.executorEnv.BULKCAT_API_KEY", KEY)
               .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
               .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
               .config("spark.local.dir", str(servers.folder))
               .config("spark.sql.session.timeZone", "UTC")
               .getOrCreate())
    session.sparkContext.setLogLevel("ERROR")
    session.range(100_000).repartition(2 * executors).count()  # starts the executors
    try:
        yield session
    finally:
        session.stop()


def job(session, servers: Servers, source: pathlib.Path, output: pathlib.Path, partitions: int, **options) -> float:
    """Categorizes source into output, and returns the seconds."""
    began = time.monotonic()
    df = session.read.parquet(str(source)).repartition(partitions)
    result = bulkcat.spark.products(df, "title", gateway=servers.gateway, temporary=str(servers.folder), **options)
    if result.schema.fields[:len(df.schema.fields)] != df.schema.fields:
        raise SystemExit(f"the types of columns have changed: {result.schema}")
    result.write.parquet(str(output))
    return time.monotonic() - began


EXECUTOR, WORKER, RUN = b"CoarseGrainedExecutorBackend", b"pyspark.daemon", b"--until-stdin-ends"  # in command lines

SOON = 10  # seconds in which the run of a killed process has to end, on a busy machine


def descendants(ancestor: int, kind: bytes) -> set:
    """The processes of a kind that descend from a process."""
    parents, found = {}, set()
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            pid = int(stat.parent.name)
            parents[pid] = int(stat.read_text().rpartition(")")[2].split()[1])
            if kind in (stat.parent / "cmdline").read_bytes():
                found.add(pid)

    def descends(pid):
        while pid in parents:
            pid = parents[pid]
            if pid == ancestor:
                return True
        return False
    return {pid for pid in found if descends(pid)}


class Killer(threading.Thread):
    """Kills an executor, and later the Python worker of a task, each after a number of requests. Measures in how many
    seconds the runs of both end: None for one that goes on."""

    def __init__(self, servers: Servers, requests: int):
        super().__init__(daemon=True)
        self.servers, self.requests, self.seconds = servers, requests, {}

    def run(self):
        for kind in EXECUTOR, WORKER:
            enough = self.servers.audit()["requests"] + self.requests
            while self.servers.audit()["requests"] < enough:
                time.sleep(0.2)
            executors = descendants(os.getpid(), EXECUTOR)
            while not (found := self.busy(kind)):
                time.sleep(0.05)
            pid, run = found
            os.kill(pid, signal.SIGKILL)
            began = time.monotonic()
            ended, _, _ = select.select([run], [], [], SOON)
            seconds = time.monotonic() - began if ended else None
            print(f"killed {kind.decode()} {pid} after {enough} requests: the run has ended {seconds and round(seconds, 1)} s later", flush=True)
            while kind == EXECUTOR and not descendants(os.getpid(), EXECUTOR) - executors:  # Spark starts another
                time.sleep(0.1)
            self.seconds[kind] = seconds

    def busy(self, kind: bytes) -> tuple | None:
        """A process of a kind with a run, and a descriptor of the run."""
        for pid in descendants(os.getpid(), kind):
            if kind == WORKER and descendants(pid, WORKER):
                continue  # the daemon that forks the workers
            for run in descendants(pid, RUN):
                with contextlib.suppress(ProcessLookupError):
                    return pid, os.pidfd_open(run)
        return None


def compare(source: pathlib.Path, output: pathlib.Path, plain: pathlib.Path) -> int:
    """Compares each row of output with the input and with the rows of bulkcat alone. Returns the number of rows."""
    got = pyarrow.dataset.dataset(output).to_table().sort_by([("id", "ascending"), ("rank", "ascending")])
    want = pyarrow.parquet.read_table(plain)
    if len(got) != len(want):
        raise SystemExit(f"{len(got)} rows, want {len(want)}")
    ids = pa.compute.subtract(want["record"], 1)
    input_rows = pyarrow.parquet.read_table(source).take(ids)
    unread = pa.compute.is_in(want["status"], value_set=pa.array(["invalid", "blank"]))
    for name in got.column_names:
        expected = input_rows[name] if name in input_rows.column_names else want[name]
        column = got[name].cast(expected.type)
        if name == "error":  # the reason of a record that is not asked names the line of the task's file
            column, expected = (c.filter(pa.compute.invert(unread)) for c in (column, expected))
        if not column.equals(expected):
            raise SystemExit(f"the column {name} differs")
    return len(got)


def refuse_secrets():
    """Options that hold secrets are refused, since they would be sent with each task."""
    for name in ("api_key", "header", "notify"):
        try:
            bulkcat.spark.products(None, "title", **{name: KEY})
        except bulkcat.UsageError as error:
            if KEY not in str(error):
                continue
        raise SystemExit(f"the option {name} is not refused, or is shown")


def test(options, folder: pathlib.Path):
    refuse_secrets()
    source, output, plain = folder / "input.parquet", folder / "output", folder / "plain.parquet"
    write_input(source, options.rows)
    with Servers(options.bulkcat, options.upstream, folder / "alone", latency="0s") as alone:
        alone.plain("product", str(source), "--column", "title", "--carry", "none", "-o", str(plain))
        inputs = alone.audit()["inputs"]
    with Servers(options.bulkcat, options.upstream, folder / "servers") as servers:
        killer = Killer(servers, inputs * 3 // 10)
        with spark(servers, options.executors) as session:
            killer.start()
            seconds = job(session, servers, source, output, 8 * options.executors)
        audit = servers.audit()
    rows = compare(source, output, plain)
    print(f"{options.rows} records, {rows} rows equal those of bulkcat alone; {seconds:.0f} s, "
          f"{options.rows / seconds:.0f} records/s; upstream: {audit}")
    if list(killer.seconds) != [EXECUTOR, WORKER] or None in killer.seconds.values():
        raise SystemExit(f"want the run of a killed executor and that of a killed worker to end within {SOON} s, got {killer.seconds}")
    if audit["inputs"] != inputs or audit["repeated"]:
        raise SystemExit(f"want {inputs} requests, each once")


def measure(options, folder: pathlib.Path):
    """Prints the records/s with several numbers of executors, each with one task, with bounds of the requests in
    flight."""
    print("| executors | requests in flight of each | records/s |\n|---|---|---|")
    for workers in options.workers.split(","):
        for executors in map(int, options.measure.split(",")):
            name, rows = f"{executors}-{workers}", options.rows * executors
            source = folder / f"input-{name}.parquet"
            write_input(source, rows)
            with Servers(options.bulkcat, options.upstream, folder / f"servers-{name}") as servers:
                with spark(servers, executors) as session:
                    seconds = job(session, servers, source, folder / f"output-{name}", executors, workers=int(workers))
            print(f"| {executors} | {workers} | {rows / seconds:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("bulkcat", type=os.path.abspath)
    parser.add_argument("upstream", type=os.path.abspath)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--executors", type=int, default=2)
    parser.add_argument("--measure", help="numbers of executors: measure instead of testing")
    parser.add_argument("--workers", default="16", help="with --measure: bounds of the requests in flight, 0 for none")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bulkcat-spark-") as folder:
        (measure if options.measure else test)(options, pathlib.Path(folder))


if __name__ == "__main__":
    main()
