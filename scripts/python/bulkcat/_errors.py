"""The errors of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Error(Exception):
    """The program has failed; the text is its message."""


class UsageError(Error, ValueError):
    """An option, a column or an input cannot be used as it is."""


class Misconfigured(Error):
    """The settings or the address of the service have to change before a run can succeed."""


class Broken(Error):
    """The run is complete, and its output does not meet an expectation: see the option `expect`. No answer is lost."""

    def __init__(self, message: str, account: dict[str, Any]) -> None:
        super().__init__(message)
        self.account = account
        self.expectations: list[dict[str, Any]] = account.get("expectations", [])


class Stopped(Error):
    """The run stopped early: by its quota, a budget, a deadline, an outage, or by Ctrl-C. No answer is lost."""

    def __init__(self, message: str, account: dict[str, Any]) -> None:
        super().__init__(message)
        self.account = account
        self.counts: dict[str, Any] = account.get("counts", {})
        self.interrupted = False  # by Ctrl-C, or by the stop button of a notebook
        self._again: Callable[[bool], Any] | None = None

    def resume(self) -> Any:
        """Make the same call again, which asks only for what has no stored answer."""
        return self._call(partial=False)

    def result(self) -> Any:
        """Return what the call returns, without asking: records without an answer have the status "pending"."""
        return self._call(partial=True)

    def _call(self, partial: bool) -> Any:
        if self._again is None:
            raise Error("this call cannot be made again")
        return self._again(partial)
