"""A run in the background."""

from __future__ import annotations

import concurrent.futures
import threading
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from bulkcat._progress import Progress
    from bulkcat._run import Control

T = TypeVar("T")


class Job(Generic[T]):
    """A run in the background, which ends with its result, or with the exception that the call would raise.

    A `with` block ends the run that it leaves. `await job` waits, and ends the run if the task is cancelled.
    """

    def __init__(self, call: Callable[[], T], control: Control) -> None:
        self._control = control
        self._future: concurrent.futures.Future[T] = concurrent.futures.Future()
        threading.Thread(target=self._run, args=[call], name="bulkcat").start()

    def _run(self, call: Callable[[], T]) -> None:
        try:
            self._future.set_result(call())
        except BaseException as error:
            self._future.set_exception(error)

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the end, for so many seconds at most, and report whether the run has ended."""
        return bool(concurrent.futures.wait([self._future], timeout).done)

    def result(self) -> T:
        """Wait for the end, and return the result. After `cancel` this raises Stopped, whose result() is what is there."""
        return self._future.result()

    @property
    def progress(self) -> Progress | None:
        """How far the run is; None before it begins."""
        return self._control.progress()

    def cancel(self) -> None:
        """Let the requests in flight end, and send no others. Every answer is stored: the same call goes on."""
        self._control.cancel()

    def __enter__(self) -> Job[T]:
        return self

    def __exit__(self, *_: object) -> None:
        self.cancel()
        self.wait()

    def __await__(self) -> Generator[Any, None, T]:
        return self._awaited().__await__()

    async def _awaited(self) -> T:
        import asyncio  # here, since its import takes longer than that of the package

        future = asyncio.wrap_future(self._future)
        try:
            return await asyncio.shield(future)
        except asyncio.CancelledError:
            self.cancel()
            future.add_done_callback(asyncio.Future.exception)  # asyncio would log that nothing has awaited it
            raise

    def __repr__(self) -> str:
        return f"Job({'ended' if self._future.done() else self.progress or 'begins'})"
