"""Shows how far a run is: with tqdm if it is installed, and else in a line of the terminal."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Mapping
from typing import Any, Protocol

_Status = Mapping[str, Any]  # of the status file of a run


class _Bar(Protocol):
    def draw(self, status: _Status) -> None:
        """Draw the bar as the status says."""

    def close(self) -> None:
        """Remove the bar."""


class Progress:
    """A bar that follows the status file of a run."""

    def __init__(self, path: str, wanted: bool | None) -> None:
        self._path = path
        self._bar: _Bar | None = None
        self._make = _maker(wanted)

    def show(self) -> None:
        """Draw the bar as the status file says."""
        if self._make is None:
            return
        try:
            with open(self._path, encoding="utf-8") as file:
                status = json.load(file)
        except (OSError, ValueError):
            return  # the run has not begun
        if self._bar is None:
            self._bar = self._make()
        self._bar.draw(status)

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _maker(wanted: bool | None) -> Callable[[], _Bar] | None:
    """What makes a bar: None where nobody sees it, unless a bar of tqdm is wanted."""
    if wanted is False or (wanted is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules)):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return _Line if sys.stderr.isatty() else None
    return lambda: _Tqdm(tqdm(unit=" records", smoothing=0.1, leave=False))


class _Tqdm:
    """A line in a terminal, or a widget in a notebook."""

    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def draw(self, status: _Status) -> None:
        self._bar.total = status.get("total") or None
        self._bar.update(status["records"] - self._bar.n)
        figures = {"state": status["state"], "requests": status["requests"], "quota left": status.get("quota_left")}
        self._bar.set_postfix({name: value for name, value in figures.items() if value is not None})

    def close(self) -> None:
        self._bar.close()


class _Line:
    """A line of a terminal, in ASCII, which is one column wide in every terminal."""

    def draw(self, status: _Status) -> None:
        try:
            width = os.get_terminal_size(sys.stderr.fileno()).columns or 80
        except (OSError, ValueError):
            width = 80
        print("\r" + line(status)[: width - 1] + "\x1b[K", end="", file=sys.stderr, flush=True)

    def close(self) -> None:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def line(status: _Status) -> str:
    """Return how far a run is, its rate, the time left and its cost, as far as the status says them."""
    records, total, left = status["records"], status.get("total"), status.get("seconds_left")
    words = [f"{records:,} records"]
    if total:
        share = min(records / total, 1)
        words = [f"{share:4.0%} [{'#' * round(20 * share):20}] {records:,}/{total:,} records"]
    if status.get("records_per_second"):
        words.append(f"{status['records_per_second']:,.0f}/s")
    if left:
        words.append(f"{left // 3600:.0f}:{left // 60 % 60:02.0f}:{left % 60:02.0f} left")
    words.append(f"{status['requests']:,} requests")
    if status.get("quota_left") is not None:
        words.append(f"quota {status['quota_left']:,}")
    if status["state"] != "asking":
        words.append(status["state"])
    return ", ".join(words)
