"""Shows how far a run is: with tqdm if it is installed, in a line of the terminal, or in the log."""

from __future__ import annotations

import json
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

_LOG_EVERY = 60  # seconds, without a bar


@dataclass(frozen=True)
class Progress:
    """How far a run is. As a text it is one line."""

    state: str  # such as "asking"
    records: int
    total: int | None  # None until it is known
    requests: int
    unanswered: int  # records that the service has rejected, or for which it has failed
    records_per_second: float
    seconds_left: float | None
    quota_left: int | None

    def __str__(self) -> str:
        words = [f"{self.records:,} records"]
        if self.total:
            share = min(self.records / self.total, 1)
            words = [f"{share:4.0%} [{'#' * round(20 * share):20}] {self.records:,}/{self.total:,} records"]
        if self.records_per_second:
            words.append(f"{self.records_per_second:,.0f}/s")
        if left := self.seconds_left:
            words.append(f"{left // 3600:.0f}:{left // 60 % 60:02.0f}:{left % 60:02.0f} left")
        words.append(f"{self.requests:,} requests")
        if self.quota_left is not None:
            words.append(f"quota {self.quota_left:,}")
        if self.state != "asking":
            words.append(self.state)
        return ", ".join(words)


def of(status: Mapping[str, Any]) -> Progress:
    """Return the progress that the status file of a run says."""
    return Progress(
        status["state"], status["records"], status.get("total") or None, status["requests"], status.get("unanswered", 0),
        status.get("records_per_second", 0), status.get("seconds_left"), status.get("quota_left"),
    )  # fmt: skip


class _Bar(Protocol):
    def draw(self, progress: Progress) -> None:
        """Draw the bar."""

    def close(self) -> None:
        """Remove the bar."""


class Bar:
    """A bar that follows the status file of a run."""

    def __init__(self, path: str, wanted: bool | None, is_job: bool) -> None:
        self._path = path
        self._last: Progress | None = None
        self._bar: _Bar | None = None
        self._make = _maker(wanted, is_job)

    def read(self) -> Progress | None:
        """Return how far the run is; None if it has not begun."""
        try:
            with open(self._path, encoding="utf-8") as file:
                self._last = of(json.load(file))
        except (OSError, ValueError):
            pass  # the run has not begun, or its files are removed
        return self._last

    def end(self, counts: Mapping[str, int]) -> None:
        """Note the counts of the account: the status file has left with the run."""
        records, last = counts.get("read", 0), self._last
        unanswered = sum(counts.get(status, 0) for status in ("rejected", "failed", "invalid", "pending"))
        total, quota = (last.total, last.quota_left) if last else (None, None)
        self._last = Progress("ended", records, total or records, counts.get("requests", 0), unanswered, 0, None, quota)

    def show(self) -> None:
        """Draw the bar as the status file says."""
        if self._make is None:
            return
        if progress := self.read():
            if self._bar is None:
                self._bar = self._make()
            self._bar.draw(progress)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _maker(wanted: bool | None, is_job: bool) -> Callable[[], _Bar] | None:
    """What makes a bar: the log where nobody sees one, unless a bar of tqdm is wanted."""
    if wanted is False:
        return None
    if wanted is None and (is_job or not (sys.stderr.isatty() or "ipykernel" in sys.modules)):
        return _Logged
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line if sys.stderr.isatty() else _Logged
    return lambda: _Tqdm(tqdm(unit=" records", smoothing=0.1, leave=False))


class _Tqdm:
    """A line in a terminal, or a widget in a notebook."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def draw(self, progress: Progress) -> None:
        self._bar.total = progress.total
        self._bar.update(progress.records - self._bar.n)
        figures = {"state": progress.state, "requests": progress.requests, "quota left": progress.quota_left}
        self._bar.set_postfix({name: value for name, value in figures.items() if value is not None})

    def close(self) -> None:
        self._bar.close()


class _Line:
    """A line of a terminal, in ASCII, which is one column wide in every terminal."""

    def draw(self, progress: Progress) -> None:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        print("\r" + str(progress)[: width - 1] + "\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


class _Logged:
    """A line in the log each minute, the first one after a minute."""

    def __init__(self) -> None:
        self._next = time.monotonic() + _LOG_EVERY

    def draw(self, progress: Progress) -> None:
        if time.monotonic() >= self._next:
            self._next += _LOG_EVERY
            logging.getLogger("bulkcat").info("%s", progress)

    def close(self) -> None:
        """Do nothing: what is logged stays."""
