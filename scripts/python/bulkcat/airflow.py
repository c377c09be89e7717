"""An operator of Airflow for a run whose output is in files.

from bulkcat.airflow import BulkcatOperator

BulkcatOperator(task_id="categorize", kind="product", input_path="a.csv", output_path="a.parquet", conn_id="bulkcat")
"""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Any

from airflow.sdk import BaseHook, BaseOperator
from airflow.sdk.exceptions import AirflowException, AirflowFailException, AirflowRescheduleException
from airflow.triggers.base import BaseTrigger, TriggerEvent

import bulkcat
from bulkcat import _flags
from bulkcat._errors import Error, Misconfigured, Spent, Stopped, UsageError

if TYPE_CHECKING:
    from airflow.sdk import Context

_FUNCTIONS: dict[str, Callable[..., Any]] = {"website": bulkcat.websites, "product": bulkcat.products}
_SECRETS = frozenset({"api_key", "header", "notify"})  # which Airflow would show among the rendered fields


class BulkcatOperator(BaseOperator):
    """Categorizes a file, a folder or a pattern of files. The account of the run is the XCom of the task.

    kind is "website" or "product". input_path and output_path are paths that the worker can read and write. column is the column of
    the inputs. options are those of `bulkcat.products`, except for secrets.

    conn_id names a Connection: its host is the URL of the service, and its password the key. Without it the worker's
    environment counts, such as BULKCAT_BASE_URL and BULKCAT_API_KEY.

    A run that stops early (quota, deadline or outage) is rescheduled after reschedule_after. With deferrable=True
    the triggerer waits for quota, and asks for it every reschedule_after. The run then asks only for what is missing. Wrong
    settings, and a budget that is spent, fail the task without a retry. A killed task lets the requests in flight end, and fails.
    """

    template_fields = ("input_path", "output_path", "column", "options")

    def __init__(
        self,
        *,
        kind: str,
        input_path: str,
        output_path: str,
        column: str | list[str] | None = None,
        options: dict[str, Any] | None = None,
        conn_id: str | None = None,
        reschedule_after: datetime.timedelta = datetime.timedelta(hours=1),
        deferrable: bool = False,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if kind not in _FUNCTIONS:
            raise UsageError(f"kind is {kind!r}, want website or product")
        if names := sorted(_SECRETS.intersection(options or {})):
            raise UsageError(f"the option {names[0]!r} would be shown in Airflow: use a Connection, or the environment of the worker")
        _flags.check(kind, _flags.seal(dict(options or {})))
        self.kind, self.input_path, self.output_path = kind, input_path, output_path
        self.column, self.options = column, options
        self.conn_id, self.reschedule_after, self.deferrable = conn_id, reschedule_after, deferrable
        self._running = False

    def execute(self, context: Context) -> dict[str, Any]:
        """Run until the output is complete, and return the account."""
        self._running = True
        try:
            run = _FUNCTIONS[self.kind](
                self.input_path, self.column, output=self.output_path, **(self.options or {}), **_service(self.conn_id)
            )
        except (Misconfigured, Spent, UsageError) as error:
            raise AirflowFailException(str(error)) from error
        except Stopped as stopped:
            self._continue_later(stopped)
        finally:
            self._running = False
        account: dict[str, Any] = run.account
        return account

    def _continue_later(self, stopped: Stopped) -> None:
        ending = stopped.account.get("ending", "interrupted")
        self.log.info("the run stopped early: %s", stopped)
        if ending == "interrupted":
            raise AirflowException("the task was killed: the next try asks only for what has no stored answer") from stopped
        if ending == "quota" and self.deferrable:
            trigger = QuotaTrigger(self.conn_id, self.reschedule_after.total_seconds(), (self.options or {}).get("reserve", 0))
            self.defer(trigger=trigger, method_name="resume")
        raise AirflowRescheduleException(datetime.datetime.now(datetime.timezone.utc) + self.reschedule_after) from stopped

    def resume(self, context: Context, event: Any = None) -> dict[str, Any]:
        """Continue when there is quota again."""
        return self.execute(context)

    def on_kill(self) -> None:
        """Stop the run softly, as Ctrl-C does. Airflow calls this in the main thread, which waits for the run."""
        if self._running:
            raise KeyboardInterrupt


class QuotaTrigger(BaseTrigger):
    """Fires when the service has more than `reserve` requests left. It asks every `seconds`."""

    def __init__(self, conn_id: str | None, seconds: float, reserve: int = 0) -> None:
        super().__init__()
        self.conn_id, self.seconds, self.reserve = conn_id, seconds, reserve

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """Return the class and its arguments, which hold no secret."""
        return "bulkcat.airflow.QuotaTrigger", {"conn_id": self.conn_id, "seconds": self.seconds, "reserve": self.reserve}

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Wait for quota. A service that does not count it in numbers is asked again by the run."""
        while True:
            await asyncio.sleep(self.seconds)
            try:
                left = await asyncio.to_thread(self._left)
            except (Misconfigured, UsageError) as error:  # for good: the run says it, too, and fails the task
                yield TriggerEvent({"error": str(error)})
                return
            except Error as error:
                self.log.warning("the service does not say how much quota is left: %s", error)
                continue
            if left is None or left > max(self.reserve, 0):
                yield TriggerEvent({"quota_left": left})
                return

    def _left(self) -> int | None:
        service: Any = _service(self.conn_id)
        return bulkcat.usage(**service).remaining


def _service(conn_id: str | None) -> dict[str, str]:
    """The options of a Connection: the address and the key of the service."""
    if conn_id is None:
        return {}
    connection = BaseHook.get_connection(conn_id)
    host = connection.host or ""
    if not host:
        raise UsageError(f"the Connection {conn_id!r} has no host: set it to the URL of the service")
    url = host if "://" in host else f"{connection.schema or 'https'}://{host}"
    options = {"base_url": url + (f":{connection.port}" if connection.port else "")}
    if connection.password:
        options["api_key"] = _flags.Secret(connection.password)
    return options
