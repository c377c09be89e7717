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

_PREFIX = "python-"
_DAY = 24 * 3600.0


def state_folder() -> str:
    """Return the folder in which the program keeps the answers of runs without an output folder."""
    home = os.path.expanduser("~")
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(home, "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(home, "Library", "Application Support")
    else:
        base = os.environ.get("XDG_STATE_HOME", "")
        if not os.path.isabs(base):
            base = os.path.join(home, ".local", "state")
    return os.path.join(base, "bulkcat")


class Work:
    """Files of one call. Without a named store they lie in the state folder, whose runs share a store of answers."""

    def __init__(self, store_named: bool, hosted: bool) -> None:
        self._temporary = ""
        self.folder = _flags.passable("the state folder", state_folder(), is_path=False)  # for pyarrow
        if store_named or (not _usable(self.folder) and not hosted):  # without the folder nothing may be charged
            import tempfile

            self._temporary = self.folder = tempfile.mkdtemp(prefix="bulkcat-")
        os.makedirs(self.folder, mode=0o700, exist_ok=True)
        self._name = f"{_PREFIX}{os.getpid()}-{secrets.token_hex(4)}"

    def __enter__(self) -> Work:
        if not self._temporary:
            _settle_leftovers(self.folder)
        return self

    def path(self, name: str) -> str:
        """Return the path of a file of the call."""
        return os.path.join(self.folder, f"{self._name}.{name}")

    def __exit__(self, *_: object) -> None:
        if self._temporary:
            shutil.rmtree(self._temporary, ignore_errors=True)
        else:
            _remove(self.folder, self._name)


def _usable(folder: str) -> bool:
    try:
        os.makedirs(folder, mode=0o700, exist_ok=True)
    except OSError:
        return False
    return os.access(folder, os.W_OK)


def _remove(folder: str, name: str) -> None:
    for start in (name, "." + name):  # locks and drafts are hidden
        for path in glob.glob(os.path.join(glob.escape(folder), glob.escape(start) + "*")):
            try:
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
        while time.monotonic() < deadline and _is_running(glob.glob(os.path.join(glob.escape(folder), name + ".*.status.json"))):
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


def _is_running(statuses: list[str]) -> bool:
    """Report whether a run goes on: the program is there, and has not written its ending. Windows cannot tell."""
    if os.name == "nt":
        return False
    for path in statuses:
        try:
            with open(path, encoding="utf-8") as file:
                status: dict[str, Any] = json.load(file)
            os.kill(status["pid"], 0)
        except (OSError, ValueError, KeyError):
            continue
        if status.get("state") != "ended":
            return True
    return False
