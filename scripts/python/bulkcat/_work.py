"""The files of a call, and the store of answers of the user."""

from __future__ import annotations

import glob
import json
import os
import secrets
import shutil
import sys
import time
from typing import Any

from bulkcat import _flags
from bulkcat._errors import UsageError

_PREFIX = "python-"
_DAY = 24 * 3600.0


def state_folder() -> str:
    """Return the folder in which the program keeps the answers of runs without an output folder."""
    name = "LOCALAPPDATA" if sys.platform == "win32" else "HOME"
    base = os.environ.get(name, "")
    if sys.platform == "darwin":
        base = os.path.join(base, "Library", "Application Support")
    elif sys.platform != "win32":
        given = os.environ.get("XDG_STATE_HOME", "")
        base = given if os.path.isabs(given) else os.path.join(base, ".local", "state")
    if not os.path.isabs(base):  # a container may have no home; the program does not ask for another one, either
        raise UsageError(f"there is no state folder, since {name} names none: name a folder with store=")
    return os.path.join(base, "bulkcat")


class Work:
    """Files of one call. They lie in the state folder, whose runs share a store of answers, or in a temporary folder."""

    def __init__(self, kept_elsewhere: bool, hosted: bool) -> None:
        """kept_elsewhere says that the answers are in a named store, or beside an output."""
        self._temporary = ""
        self._folder = "" if kept_elsewhere else usable_state_folder(hosted)
        self._name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"
        self._kept: tuple[str, bytes] | None = None

    def __enter__(self) -> Work:
        if self._folder:
            _settle_leftovers(self._folder)
        if self._temporary:  # it has been removed
            os.mkdir(self._temporary, mode=0o700)
        if self._kept:
            path, content = self._kept
            with open(path, "wb") as file:
                file.write(content)
        return self

    def keep(self, path: str) -> None:
        """Keep a file, if it is there, for a call that goes on with the same paths."""
        if os.path.exists(path):
            with open(path, "rb") as file:
                self._kept = path, file.read()

    def path(self, name: str) -> str:
        """Return the path of a file of the call."""
        if not (self._folder or self._temporary):
            import tempfile

            self._temporary = tempfile.mkdtemp(prefix="bulkcat-")
        return os.path.join(self._folder or self._temporary, f"{self._name}.{name}")

    def __exit__(self, *_: object) -> None:
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)
        elif self._folder:
            _remove(self._folder, self._name)


def usable_state_folder(hosted: bool) -> str:
    """Return the state folder; "" if it cannot be used, and nothing may be charged for."""
    try:
        folder = state_folder()
        _flags.passable("the state folder", folder, is_path=False)  # for pyarrow
        os.makedirs(folder, mode=0o700, exist_ok=True)
        probe = os.path.join(folder, f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}.probe")
        os.close(os.open(probe, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
        os.remove(probe)
    except UsageError:
        if hosted:
            raise
        return ""
    except OSError as error:
        if hosted:
            raise UsageError(f"the state folder, which keeps the answers, cannot be used ({error}): name another with store=") from None
        return ""
    return folder


def _remove(folder: str, name: str) -> None:
    for start in (name, "." + name):  # drafts and the folders of runs are hidden
        for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(start) + "*")):
            try:
                if os.path.isdir(path):
                    shutil.rmtree(path)
                else:
                    os.remove(path)
            except OSError:
                pass  # a file that is in use is removed by a later call


def _settle_leftovers(folder: str) -> None:
    """Remove the files of calls whose process was killed, once their runs, which hold the store, have ended."""
    for path in glob.glob(os.path.join(glob.escape(folder), _PREFIX + "*-*.*")):
        name = os.path.basename(path).split(".")[0]
        pid = name.split("-")[1]
        if not pid.isdigit() or _may_live(int(pid), path):
            continue
        deadline = time.monotonic() + 30
        statuses = os.path.join(glob.escape(folder), "." + name + ".*.run", "status.json")
        while time.monotonic() < deadline and _is_running(glob.glob(statuses)):
            time.sleep(0.05)
        _remove(folder, name)


def _may_live(pid: int, path: str) -> bool:
    """Report whether the process of a call may still live. Windows cannot tell, so its files stay for a day."""
    try:
        if time.time() - os.path.getmtime(path) > _DAY:
            return False
        if os.name != "nt":
            os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except FileNotFoundError:
        return True  # another call has removed it
    except OSError:
        return True
    return True


def _account_of(status: str) -> str:
    """Return the path of the account, OUTPUT.run.json, that a run with the status .OUTPUT.run/status.json writes as the last."""
    folder, name = os.path.split(os.path.dirname(status))
    return os.path.join(folder, name[1:] + ".json")


def _is_running(statuses: list[str]) -> bool:
    """Report whether a run goes on: the program is there, and has not written its account. Windows cannot tell."""
    if os.name == "nt":
        return False
    for path in statuses:
        try:
            with open(path, encoding="utf-8") as file:
                status: dict[str, Any] = json.load(file)
            os.kill(status["pid"], 0)
        except (OSError, ValueError, KeyError):
            continue
        if status.get("state") != "ended" or not os.path.exists(_account_of(path)):
            return True
    return False
