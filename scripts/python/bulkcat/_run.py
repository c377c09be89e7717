"""Runs the program as a child, and tells how the run has ended."""

from __future__ import annotations

import json
import logging
import os
import re
import tempfile
import threading
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

from bulkcat import _binary, _flags
from bulkcat._errors import Broken, Error, Misconfigured, Spent, Stopped, UsageError

if TYPE_CHECKING:
    import subprocess

    from bulkcat._progress import Bar, Progress

# The exit statuses of the program.
_COMPLETE, _USAGE, _UNANSWERED, _BROKEN, _SPENT = 0, 2, 3, 4, 5
_INTERRUPTED = 130
_STOPPED = (75, _INTERRUPTED, 143)

_NONE: frozenset[str] = frozenset()
_Messages = list[dict[str, Any]]  # the lines on standard error


def start(arguments: list[str], options: Mapping[str, Any], stderr: IO[bytes] | int, **pipes: Any) -> subprocess.Popen[bytes]:
    """Start the program out of reach of the signals of the terminal: this process decides how a run is stopped."""
    import subprocess

    variables = _flags.environment(options, pipes.pop("without", frozenset()))
    if os.name == "nt":
        pipes["creationflags"] = getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0)
    else:
        pipes["start_new_session"] = True
    return subprocess.Popen([_binary.find(), *arguments], env=variables, stderr=stderr, **pipes)


def call(arguments: list[str], options: Mapping[str, Any] | None = None) -> Any:
    """Run a command that is no run, and return the JSON that it prints."""
    text, status, log = _output(arguments, options or {})
    if text.strip() and status in (_COMPLETE, 1, _BROKEN):  # 1 says that there are findings
        return _parsed(text)
    raise _error(status, log, {})


def _parsed(text: bytes) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        raise Error("the program printed no JSON: see BULKCAT_BINARY") from None


def command(arguments: list[str]) -> None:
    """Run a command that is no run, and prints nothing that counts."""
    _, status, log = _output(arguments, {})
    if status != _COMPLETE:
        raise _error(status, log, {})


def _output(arguments: list[str], options: Mapping[str, Any], without: frozenset[str] = _NONE) -> tuple[bytes, int, _Messages]:
    """Run a command to its end, and return its standard output, its status and its messages."""
    import subprocess

    with tempfile.TemporaryFile() as log, Headers(options) as headers:
        process = start([*arguments, *headers], options, log, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, without=without)
        with process:
            text = _read(process)
        messages = _messages(log)
        for message in messages:
            _log(message)
        return text, process.returncode, messages


def _read(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    try:
        return process.stdout.read()
    except BaseException:
        process.kill()
        raise


class Control:
    """Stops a run softly, from any thread, and knows how far it is."""

    def __init__(self, is_job: bool = False) -> None:
        self.is_job = is_job
        self._lock = threading.Lock()
        self._is_cancelled = False
        self._process: subprocess.Popen[bytes] | None = None
        self._bar: Bar | None = None

    def follow(self, bar: Bar) -> Bar:
        """Take the bar of the run, which reads its status."""
        self._bar = bar
        return bar

    def start(self, make: Callable[[], subprocess.Popen[bytes]]) -> subprocess.Popen[bytes]:
        """Start the program of the run, unless it is cancelled already."""
        with self._lock:
            if self._is_cancelled:
                raise Stopped("cancelled before it began", {})
            self._process = make()
            return self._process

    def cancel(self) -> None:
        """End the standard input of the program: it lets the requests in flight end, and sends no others."""
        with self._lock:
            self._is_cancelled = True
            if self._process is not None and self._process.stdin is not None:
                self._process.stdin.close()

    def progress(self) -> Progress | None:
        """Return how far the run is; None before it begins."""
        return self._bar.read() if self._bar is not None else None


def run(
    arguments: list[str],
    options: dict[str, Any],
    output: str,
    control: Control,
    bar: Bar,
    without: frozenset[str],
    warns: bool = True,
    named: Callable[[str, str], str] = lambda text, _: text,
) -> dict[str, Any]:
    """Run `website` or `product` without the variables of some options, and return the account.

    Ctrl-C stops the run softly; the second one kills it. The run stops when its standard input ends, so that it does not
    outlive this process.
    """
    import subprocess

    arguments = [*arguments, *_flags.flags(options), f"--output={output}", "--until-stdin-ends"]
    errors: _Messages = []
    printed: list[bytes] = []  # the account

    def read(stderr: IO[bytes]) -> None:
        """Log the messages of the program as they come, and keep its errors."""
        for line in stderr:
            message = {k: named(v, arguments[1]) if isinstance(v, str) else v for k, v in _message(line).items()}
            if message.get("level") == "ERROR":
                errors.append(message)
            elif warns or message.get("level") != "WARN":
                _log(message)

    with Headers(options) as headers:
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "without": without}
        process = control.start(lambda: start([*arguments, *headers], options, subprocess.PIPE, **pipes))
        readers = [threading.Thread(target=read, args=[process.stderr]), threading.Thread(target=printed.extend, args=[process.stdout])]
        for reader in readers:
            reader.start()
        with process:
            try:
                _wait(process, control, bar)
            finally:
                for reader in readers:
                    reader.join()
    text = b"".join(printed)
    account: dict[str, Any] = _parsed(text) if text.endswith(b"\n") else {}  # the program was killed
    if counts := account.get("counts"):
        bar.end(counts)
    pending = process.returncode in _STOPPED and account.get("ending") == "complete"  # of --partial
    if process.returncode not in (_COMPLETE, _UNANSWERED) and not pending:
        raise _error(process.returncode, errors, account)
    if "counts" not in account:
        raise Error("the program ended without the account of the run: see BULKCAT_BINARY")
    return account


def forecast(arguments: list[str], options: dict[str, Any], without: frozenset[str]) -> dict[str, Any]:
    """Make a dry run, and return its figures."""
    text, status, log = _output([*arguments, *_flags.flags(options), "--dry-run"], options, without)
    if status != _COMPLETE:
        raise _error(status, log, {})
    figures: dict[str, Any] = _parsed(text)
    return figures


def _wait(process: subprocess.Popen[bytes], control: Control, bar: Bar) -> None:
    import subprocess

    try:
        while True:
            try:
                process.wait(0.2)
                return
            except subprocess.TimeoutExpired:
                bar.show()
    except KeyboardInterrupt:
        control.cancel()
        try:
            process.wait()
        except KeyboardInterrupt:
            process.kill()
            process.wait()
            raise
    except BaseException:
        control.cancel()
        raise


class Headers:
    """The headers of requests in a file, since other users of the machine can read a command line."""

    def __init__(self, options: Mapping[str, Any]) -> None:
        given = options.get("header", [])
        self._lines = [given] if isinstance(given, str) else list(given)
        self._path = ""

    def __enter__(self) -> list[str]:
        if not self._lines:
            return []
        descriptor, self._path = tempfile.mkstemp(prefix="bulkcat-")  # for this user alone
        with open(descriptor, "w", encoding="utf-8") as file:
            file.writelines(line + "\n" for line in self._lines)
        return [f"--header-file={self._path}"]

    def __exit__(self, *_: object) -> None:
        if self._path:
            os.remove(self._path)


def beside(output: str, suffix: str) -> str:
    """Return the path of the file of a run beside an output."""
    return output.rstrip("/" + os.sep) + "." + suffix


def status_of(output: str) -> str:
    """Return the path of the status of a run, which is there while the run goes on."""
    folder, name = os.path.split(output.rstrip("/" + os.sep))
    return os.path.join(folder, f".{name}.run", "status.json")


def _messages(log: IO[bytes]) -> _Messages:
    """The lines on standard error."""
    log.seek(0)
    return [_message(line) for line in log]


def _message(line: bytes) -> dict[str, Any]:
    """A line on standard error. One that is no JSON, such as that of a crash, is an error."""
    text = line.decode("utf-8", "replace").rstrip("\r\n")
    try:
        message = json.loads(text)
    except ValueError:
        message = None
    return message if isinstance(message, dict) else {"level": "ERROR", "msg": text.removeprefix("bulkcat: ")}


_LEVELS = {"DEBUG": logging.DEBUG, "INFO": logging.INFO, "WARN": logging.WARNING}
_TOLD = ("progress", "summary")  # messages whose figures the bar and the account have


def _log(message: Mapping[str, Any]) -> None:
    """Log a message of the program that is no error."""
    level = _LEVELS.get(str(message.get("level")))
    if level is not None and message.get("msg") not in _TOLD:
        logging.getLogger("bulkcat").log(level, "%s", _text(message))


def _text(message: Mapping[str, Any]) -> str:
    details = [f"{key}: {value}" for key, value in message.items() if key not in ("time", "level", "msg")]
    return _flags.in_words(str(message.get("msg", "")) + (f" ({', '.join(details)})" if details else ""))


def ended(status: int, log: IO[bytes]) -> Error:
    """Return the error of a program that has ended with a status."""
    return _error(status, _messages(log), {})


def _error(status: int, messages: _Messages, account: dict[str, Any]) -> Error:
    errors = [m for m in messages if m.get("level") == "ERROR"]
    text = _flags.in_words(re.sub(r"\nRun 'bulkcat.* --help' for usage", "", "\n".join(str(m.get("msg", "")) for m in errors)))
    if status == _USAGE:
        return UsageError(text)
    if status == _BROKEN:
        return Broken(text, account)
    if status == _SPENT:
        return Spent(text, account)
    if status in _STOPPED:
        stopped = Stopped(text or f"stopped early: {account.get('ending', 'interrupted')}", account)
        stopped.interrupted = status == _INTERRUPTED
        return stopped
    if any(m.get("misconfigured") for m in errors):
        return Misconfigured(text)
    if status < 0:
        text = f"the program was ended by signal {-status}: the same call asks only for what has no stored answer; {text}"
    return Error(text or f"the program ended with status {status}")
