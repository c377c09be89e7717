"""Finds the program that the wheel has installed."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig

from bulkcat._errors import UsageError


def find() -> str:
    """Return the path of the program: that of BULKCAT_BINARY, or that of the wheel. PATH is not searched."""
    given = os.environ.get("BULKCAT_BINARY")
    if given:
        if shutil.which(given) is None:  # here, since the frames of subprocess hold the variables, and so the key
            raise UsageError(f"BULKCAT_BINARY: there is no program {given!r}")
        return given
    name = "bulkcat" + (".exe" if os.name == "nt" else "")
    places = [os.path.join(folder, name) for folder in _folders()]
    for place in places:
        if os.path.isfile(place):
            return place
    raise UsageError(f"the program bulkcat is not in {', '.join(places)}: install the wheel, or set BULKCAT_BINARY")


def _folders() -> list[str]:
    """The folders in which pip puts programs: of the environment, of --user, --prefix and --target."""
    package = os.path.dirname(os.path.abspath(__file__))
    user = sysconfig.get_path("scripts", scheme=sysconfig.get_preferred_scheme("user"))
    folders = [sysconfig.get_path("scripts"), user, os.path.join(os.path.dirname(package), "bin")]
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(os.path.dirname(package))))  # of lib/python3.x/site-packages
    folders.append(os.path.join(prefix, "Scripts" if os.name == "nt" else "bin"))
    return list(dict.fromkeys(folders))


def main() -> None:
    """Run the program in place of Python."""
    command = [find(), *sys.argv[1:]]
    if os.name != "nt":
        os.execv(command[0], command)
    import subprocess

    sys.exit(subprocess.call(command))  # Windows has no exec that keeps the process
