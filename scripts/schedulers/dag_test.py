"""Runs the task of bulkcat_dag.py in Airflow, with a stand-in for bulkcat that ends with each exit status.

    python dag_test.py
"""

import os
import pathlib
import stat
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
os.environ.setdefault("AIRFLOW_HOME", tempfile.mkdtemp())

from airflow.sdk.exceptions import AirflowException, AirflowSkipException  # noqa: E402 (AIRFLOW_HOME comes first)

sys.path.insert(0, str(HERE))
from bulkcat_dag import dag  # noqa: E402


def ending(status: int, folder: str) -> str:
    """Runs the task with a bulkcat that ends with status."""
    program = pathlib.Path(folder, "bulkcat")
    program.write_text(f'#!/bin/sh\n[ "$*" = "run jobs.toml --quiet" ] && exit {status}\nexit 9\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    task = dag.get_task("categorize")
    task.cwd = folder
    try:
        task.execute({})
    except AirflowSkipException:
        return "skipped"
    except AirflowException:
        return "failed"
    return "success"


with tempfile.TemporaryDirectory() as folder:
    os.environ["PATH"] = folder + os.pathsep + os.environ["PATH"]
    wrong = 0
    for status, want in {0: "success", 1: "failed", 2: "failed", 3: "success", 75: "skipped", 143: "failed"}.items():
        got = ending(status, folder)
        wrong += got != want
        print(f"exit status {status}: the task ends as {got}, want {want}")
    assert dag.max_active_runs == 1 and not dag.catchup
    sys.exit(wrong)
