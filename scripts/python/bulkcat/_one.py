"""Asks for one input at a time."""

from __future__ import annotations

import atexit
import json
import os
import tempfile
import threading
import weakref
from typing import Any

from bulkcat import _flags, _run
from bulkcat._answer import Answer
from bulkcat._errors import Error
from bulkcat._frames import as_texts, without_prefix

# The program reads this many bytes to find out what its input is, before the first record: blank lines are no records.
_SAMPLE = 64 << 10

# Programs that wait for the next input, by kind and options. Each has loaded a taxonomy.
_waiting: dict[object, _Asker] = {}
_MOST_WAITING = 2
_lock = threading.Lock()
_all: weakref.WeakSet[_Asker] = weakref.WeakSet()  # also those that are asked at the moment


def ask(kind: str, text: Any, options: dict[str, Any], without: frozenset[str]) -> Answer:
    """Return the answer for one input.

    The program of the embedded service waits for the next input. That of a hosted service ends, since it holds the store
    of the user's answers.
    """
    (line,) = as_texts("the input", [text])
    if _flags.is_hosted(options) or _flags.is_given(options, "store"):
        asker = _Asker(kind, options, without)
        try:
            return asker.ask(line, last=True)
        finally:
            asker.close()
    key = (kind, _flags.Secret(json.dumps(options, sort_keys=True, default=str)))
    with _lock:
        asker = _waiting.pop(key) if key in _waiting else _Asker(kind, options, without)
        try:
            answer = asker.ask(line)
        except BaseException:
            asker.close()
            raise
        _waiting[key] = asker  # as the youngest
        while len(_waiting) > _MOST_WAITING:
            _waiting.pop(next(iter(_waiting))).close()
    return answer


@atexit.register
def close() -> None:
    """End the programs that wait."""
    with _lock:
        while _waiting:
            _waiting.popitem()[1].close()


def _forget() -> None:
    """Let go, in a forked process, of the programs of its parent: they end when nobody holds their standard input."""
    global _lock
    _lock = threading.Lock()  # which a thread of the parent may hold
    for asker in list(_all):
        asker.abandon()
    _waiting.clear()


if hasattr(os, "register_at_fork"):  # not on Windows
    os.register_at_fork(after_in_child=_forget)


class _Asker:
    """A program that answers line by line."""

    def __init__(self, kind: str, options: dict[str, Any], without: frozenset[str]) -> None:
        import subprocess

        self._log = tempfile.TemporaryFile()
        arguments = [kind, "-", *_flags.flags(options), "--output=-", "--input-format=jsonl", "--output-format=jsonl"]
        arguments += ["--carry=none", "--shape=nested"]
        self._headers = _run.Headers(options)
        arguments += self._headers.__enter__()
        self._process = _run.start(arguments, options, self._log, stdin=subprocess.PIPE, stdout=subprocess.PIPE, without=without)
        self._asked = 0
        _all.add(self)

    def ask(self, text: str | None, last: bool = False) -> Answer:
        process = self._process
        assert process.stdin is not None and process.stdout is not None
        self._asked += 1
        line = json.dumps(text or "").encode() + b"\n"  # in ASCII, for which no encoding has to be found out
        try:
            process.stdin.write(line if self._asked > 1 or last else b"\n" * _SAMPLE + line)
            process.stdin.flush()
            if last:
                process.stdin.close()
        except BrokenPipeError:
            pass  # the program has ended, and says why
        answer = process.stdout.readline()
        if not answer:
            raise _run.ended(process.wait(), self._log)
        row = json.loads(answer)
        if row["record"] != self._asked:
            raise Error(f"the program answered record {row['record']} instead of {self._asked}")
        row["error"] = without_prefix([row["error"]], "-")[0]
        return Answer.of(row)

    def abandon(self) -> None:
        """Close standard input in a forked process, without what another thread may have begun to write."""
        assert self._process.stdin is not None
        self._process.stdin.raw.close()  # type: ignore[attr-defined]

    def close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
        try:
            self._process.wait(30)
        except BaseException:
            self._process.kill()  # answers that were paid for are stored already
            self._process.wait()
            raise
        finally:
            self._headers.__exit__()
            self._log.close()
