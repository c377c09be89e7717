"""Runs the program as a child, and tells how the run has ended."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from typing import IO, TYPE_CHECKING, Any

from bulkcat import _binary, _flags
from bulkcat._errors import Broken, Error, Misconfigured, Spent, Stopped, UsageError

if TYPE_CHECKING:
    import subprocess

    from bulkcat._progress import Progress

# The exit statuses of the program.
_COMPLETE, _USAGE, _UNANSWERED, _BROKEN, _SPENT = 0, 2, 3, 4, 5
_INTERRUPTED = 130
_STOPPED = (75, _INTERRUPTED, 143)

_NONE: frozenset[str] = frozenset()
_Messages = list[dict[str, Any]]  # the lines on standard error


def start(arguments: list[str], options: Mapping[str, Any], stderr: IO[bytes], **pipes: Any) -> subprocess.Popen[bytes]:
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
        return text, process.returncode, _messages(log)


def _read(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    try:
        return process.stdout.read()
    except BaseException:
        process.kill()
        raise


def run(
    arguments: list[str],
    options: dict[str, Any],
    output: str,
    progress: Progress,
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
    with tempfile.TemporaryFile() as log, Headers(options) as headers:
        process = start([*arguments, *headers], options, log, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, without=without)
        with process:
            _wait(process, progress)
        messages = [{k: named(v, arguments[1]) if isinstance(v, str) else v for k, v in m.items()} for m in _messages(log)]
    account = _json_of(beside(output, "run.json")) or {}
    pending = process.returncode in _STOPPED and account.get("ending") == "complete"  # of --partial
    is_error = process.returncode not in (_COMPLETE, _UNANSWERED) and not pending
    error = _error(process.returncode, messages, account) if is_error else None
    warn([_text(m) for m in messages if warns and m.get("level") == "WARN"], error)
    if error is not None:
        raise error
    if "counts" not in account:
        raise Error(f"the program ended without the account {beside(output, 'run.json')}: see BULKCAT_BINARY")
    return account


def forecast(arguments: list[str], options: dict[str, Any], without: frozenset[str]) -> dict[str, Any]:
    """Make a dry run, and return its figures."""
    text, status, log = _output([*arguments, *_flags.flags(options), "--dry-run"], options, without)
    if status != _COMPLETE:
        raise _error(status, log, {})
    figures: dict[str, Any] = _parsed(text)
    return figures


def _wait(process: subprocess.Popen[bytes], progress: Progress) -> None:
    import subprocess

    assert process.stdin is not None
    try:
        while True:
            try:
                process.wait(0.2)
                return
            except subprocess.TimeoutExpired:
                progress.show()
    except KeyboardInterrupt:
        process.stdin.close()
        try:
            process.wait()
        except KeyboardInterrupt:
            process.kill()
            process.wait()
            raise
    except BaseException:
        process.stdin.close()
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
    """Return the path of a file of the run beside an output."""
    return output.rstrip("/" + os.sep) + "." + suffix


def _json_of(path: str) -> Any:
    try:
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return None


def _messages(log: IO[bytes]) -> _Messages:
    """The lines on standard error. A line that is no JSON, such as that of a crash, is an error."""
    log.seek(0)
    messages = []
    for line in log.read().decode("utf-8", "replace").splitlines():
        try:
            message = json.loads(line)
        except ValueError:
            message = None
        if not isinstance(message, dict):
            message = {"level": "ERROR", "msg": line.removeprefix("bulkcat: ")}
        messages.append(message)
    return messages


def warn(texts: list[str], error: Error | None) -> None:
    """Warn the caller of the package. Where warnings are errors, the error of the run is raised all the same."""
    import warnings

    here = os.path.dirname(os.path.abspath(__file__))
    depth = 1
    frame = sys._getframe()
    while frame.f_back is not None and os.path.dirname(os.path.abspath(frame.f_code.co_filename)) == here:
        frame, depth = frame.f_back, depth + 1
    try:
        for text in dict.fromkeys(texts):
            warnings.warn("bulkcat: " + text, stacklevel=depth)
    except Warning as warning:
        if error is None:
            raise
        raise error from warning


def _text(message: Mapping[str, Any]) -> str:
    details = [f"{key}: {value}" for key, value in message.items() if key not in ("time", "level", "msg")]
    return _flags.in_words(str(message.get("msg", "")) + (f" ({', '.join(details)})" if details else ""))


def ended(status: int, log: IO[bytes]) -> Error:
    """Return the error of a program that has ended with a status."""
    return _error(status, _messages(log), {})


def _error(status: int, messages: _Messages, account: dict[str, Any]) -> Error:
    errors = [m for m in messages if m.get("level") == "ERROR"]
    text = _flags.in_words("\n".join(str(m.get("msg", "")) for m in errors).replace("\nRun 'bulkcat --help' for usage", ""))
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
