"""Shows how far a run is, with tqdm if it is installed: a line in a terminal, a widget in a notebook."""

from __future__ import annotations

import json
import sys
from typing import Any


class Progress:
    """A bar that follows the status file of a run."""

    def __init__(self, path: str, wanted: bool | None) -> None:
        self._path = path
        self._bar: Any = None
        self._make = _bar_class(wanted)

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
            self._bar = self._make(unit=" records", smoothing=0.1, leave=False)
        self._bar.total = status.get("total") or None
        self._bar.update(status["records"] - self._bar.n)
        figures = {"state": status["state"], "requests": status["requests"], "quota left": status.get("quota_left")}
        self._bar.set_postfix({name: value for name, value in figures.items() if value is not None})

    def close(self) -> None:
        """Remove the bar."""
        if self._bar is not None:
            self._bar.close()


def _bar_class(wanted: bool | None) -> Any:
    """The class of the bars: None without tqdm, and, unless a bar is wanted, where nobody sees it."""
    if wanted is False or (wanted is None and not (sys.stderr.isatty() or "ipykernel" in sys.modules)):
        return None
    try:
        from tqdm.auto import tqdm
    except ImportError:
        return None
    return tqdm
