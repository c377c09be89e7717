"""The errors of the package."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from datetime import datetime, timedelta


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
        self._again: Callable[[bool, dict[str, Any]], Any] | None = None

    def resume(
        self, *, max_requests: int | None = None, max_cost: float | None = None, finish_by: datetime | timedelta | str | None = None
    ) -> Any:
        """Go on with the call, which asks only for what has no stored answer. Its bounds, which may be given anew, are those of
        the call and of its resume() calls together.
        """
        given = {"max_requests": max_requests, "max_cost": max_cost, "finish_by": finish_by}
        return self._call(False, {name: bound for name, bound in given.items() if bound is not None})

    def result(self) -> Any:
        """Return what the call returns, without asking: records without an answer have the status "pending"."""
        return self._call(True, {})

    def _call(self, partial: bool, bounds: dict[str, Any]) -> Any:
        if self._again is None:
            raise Error("a copy of the error, such as that of another process, does not know the call: make the same call again")
        return self._again(partial, bounds)


class Spent(Stopped):
    """The call and its resume() calls have spent max_requests or max_cost: resume() with a larger one goes on, and a new call begins
    a new budget, unless it has the same `output`, which a scheduler that retries should use.
    """
