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


class _WithAccount(Error):
    """An error with the account of its run. Copies, also in another process, have all members but those of `_ours`."""

    _ours: tuple[str, ...] = ()

    def __init__(self, message: str, account: dict[str, Any]) -> None:
        super().__init__(message)
        self.account = account

    def __reduce__(self) -> tuple[Any, ...]:
        members = {name: value for name, value in vars(self).items() if name not in self._ours}
        return type(self), (str(self), self.account), members


class Broken(_WithAccount):
    """The output of a run does not meet an expectation, or will not: see the options `expect` and `expect_else`. No answer is lost."""

    def __init__(self, message: str, account: dict[str, Any]) -> None:
        super().__init__(message, account)
        self.expectations: list[dict[str, Any]] = account.get("expectations", [])


class Stopped(_WithAccount):
    """The run stopped early: by its quota, a deadline, an outage, or by Ctrl-C; see Spent for a budget. No answer is lost."""

    _ours = ("_again",)  # the call, whose data may be large, and whose options may hold secrets

    def __init__(self, message: str, account: dict[str, Any]) -> None:
        super().__init__(message, account)
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
            raise Error("a copy of the error, such as that of another process, does not know the call: make the same call again")
        return self._again(partial)


class Spent(Stopped):
    """The run has spent its budget in all its starts: only a call with a larger max_requests or max_cost goes on."""
