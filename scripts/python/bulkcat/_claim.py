"""Lets one call at a time have the input file of an output."""

from __future__ import annotations

import contextlib
import glob
import os
import sys
from collections.abc import Iterator

from bulkcat._errors import Error

if sys.platform == "win32":
    import msvcrt
else:
    import fcntl


@contextlib.contextmanager
def claimed(path: str, output: str) -> Iterator[None]:
    """Hold the input files of an output, whose names begin with path, against other calls, and remove them in the end.

    The system ends the lock with the process that holds it.
    """
    name = path + ".lock"
    while True:
        lock = open(name, "ab")
        try:
            _lock(lock.fileno())
            if _is(name, lock.fileno()):
                break
            lock.close()  # the call before has removed the file after it was opened
        except (BlockingIOError, PermissionError):
            lock.close()
            raise Error(f"another call is writing {output}") from None
    try:
        yield
    finally:
        for file in glob.glob(glob.escape(path) + "[-.]*"):  # also those of a call that was killed
            with contextlib.suppress(OSError):  # Windows does not remove an open file
                os.remove(file)
        lock.close()


def _lock(descriptor: int) -> None:
    if sys.platform == "win32":
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


def _is(name: str, descriptor: int) -> bool:
    """Report whether a file still has its name."""
    try:
        return os.path.samestat(os.stat(name), os.fstat(descriptor))
    except FileNotFoundError:
        return False
