"""Measures the marks of the Python package: marks.py [ROWS], with the package of a wheel and pandas.

Prints a line for each figure, its mark, and ends with status 1 if a mark is missed. Each figure is the best of some
attempts, since other programs of the machine can only slow one down.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

ATTEMPTS = 3
MEGABYTE = 1 << 20

# Runs a call in a process of its own, and prints the memory of it beyond that of the frame, and that of the program, in bytes.
# The figures are those of /proc: the memory that getrusage tells of a process counts that of its parent, too.
MEMORY = """
import json, os, pathlib, sys, threading
import pandas as pd, pyarrow.parquet, bulkcat
from marks import titles

def figure(process, name):
    try:
        if process != "self" and os.readlink(f"/proc/{process}/exe") == os.readlink("/proc/self/exe"):
            return 0  # a child that has not started the program yet has the memory of this process
        lines = pathlib.Path(f"/proc/{process}/status").read_text().splitlines()
    except OSError:
        return 0
    return max([int(line.split()[1]) * 1024 for line in lines if line.startswith(name)], default=0)

def watch():
    while not ended.wait(0.005):
        children = pathlib.Path(f"/proc/self/task/{main}/children").read_text().split()
        peaks.append(max([figure(child, "VmHWM") for child in children], default=0))

frame = pd.DataFrame({"title": titles(int(sys.argv[1]))})
pathlib.Path("/proc/self/clear_refs").write_text("5")  # VmHWM begins anew
before, peaks, ended, main = figure("self", "VmRSS"), [0], threading.Event(), threading.get_native_id()
watcher = threading.Thread(target=watch)
watcher.start()
bulkcat.products(frame, categorical=sys.argv[2] == "categories")
ended.set()
watcher.join()
print(json.dumps([figure("self", "VmHWM") - before, max(peaks)]))
"""


def titles(rows: int) -> list[str]:
    """Different titles."""
    things = ("steel drill", "cast iron skillet 12 in", "cotton t-shirt", "wireless mouse", "garden hose 50 ft", "office chair")
    return [f"{things[i % len(things)]} model {i}" for i in range(rows)]


def best(call: Callable[[], object], attempts: int = ATTEMPTS) -> float:
    """Return the least time of a call in seconds."""
    times = []
    for _ in range(attempts):
        began = time.perf_counter()
        call()
        times.append(time.perf_counter() - began)
    return min(times)


def main(rows: int) -> None:
    import pandas as pd

    import bulkcat
    from bulkcat import _binary, _one

    frame = pd.DataFrame({"title": titles(rows)})
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "titles.csv")
        frame.to_csv(path, index=False)
        command = [_binary.find(), "product", str(path), "-o", folder + "/out.parquet", "--shape", "top", "--overwrite", "--quiet"]
        line = best(lambda: subprocess.run(command, check=True))
    package = best(lambda: bulkcat.products(frame))
    few = best(lambda: bulkcat.products(frame[:10_000]))

    def first() -> None:
        _one.close()
        bulkcat.product("steel drill")

    def memory(kind: str, mark: int) -> tuple[str, float, str, float]:
        command = [sys.executable, "-c", MEMORY, str(rows), kind]
        done = subprocess.run(command, cwd=pathlib.Path(__file__).parent, stdout=subprocess.PIPE, check=True)
        python, program = (size / MEGABYTE for size in json.loads(done.stdout))
        return f"memory beyond the frame, {kind} ({python:.0f} MB, the program {program:.0f} MB)", python + program, "MB", mark

    figures = [
        (f"{rows:,} titles, a frame against the command line ({package:.2f} s, {line:.2f} s)", package / line, "x", 1.5),
        ("10,000 titles", few, "s", 1.5),
        ("the first title", best(first), "s", 0.5),
        ("another title", best(lambda: bulkcat.product("cast iron skillet"), 20), "s", 0.1),
        memory("texts", 450),  # the columns of texts have half of it
        memory("categories", 300),
    ]
    for name, value, unit, mark in figures:
        print(f"{name:75} {value:8.3f} {unit:2} {'at most' if value <= mark else 'MISSED:'} {mark:g}")
    sys.exit(any(value > mark for _, value, _, mark in figures))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
