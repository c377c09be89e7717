"""Makes flags and environment variables of options."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from bulkcat._errors import UsageError
from bulkcat._options import PRODUCT, WEBSITE

TABLES = {"website": WEBSITE, "product": PRODUCT}

# Options that may hold secrets, which other users of the machine could read on the command line.
_ENVIRONMENT = {"api_key": "BULKCAT_API_KEY", "notify": "BULKCAT_NOTIFY", "base_url": "BULKCAT_BASE_URL"}


class Secret(str):
    """A text that shows itself neither in a repr nor among the variables of a traceback."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "'***'"


def seal(options: Any) -> Any:
    """Make secrets of the values that may be some, in place: the arguments of a function are in its traceback."""
    for name, value in options.items():
        if name in ("api_key", "header", "notify") or name not in {**WEBSITE, **PRODUCT}:  # or a misspelt one of these
            if isinstance(value, str):
                options[name] = Secret(value)
            elif isinstance(value, (list, tuple, bytes)):
                options[name] = [Secret(v) for v in value]
    return options


def check(kind: str, options: dict[str, Any]) -> dict[str, Any]:
    """Return the options that are given, and refuse unknown ones."""
    for name in options:
        if name not in TABLES[kind]:
            raise UsageError(f"there is no option {name!r}{_nearest(name, TABLES[kind])}")
    return {name: value for name, value in options.items() if value is not None}


def _nearest(name: str, known: Mapping[str, object]) -> str:
    import difflib

    near = difflib.get_close_matches(name.replace("-", "_"), known, 1, 0.5)
    return f": did you mean {near[0]!r}?" if near else "; help(bulkcat) lists all"


def flags(options: Mapping[str, Any]) -> list[str]:
    """Return the command line of options, without those of environment."""
    arguments = []
    for name, value in options.items():
        if name in _ENVIRONMENT or name == "header":
            continue
        for item in value if isinstance(value, (list, tuple)) else [value]:
            arguments.append(f"--{name.replace('_', '-')}={_text(name, item)}")
    return arguments


def _text(name: str, value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    kinds = [table[name][0] for table in TABLES.values() if name in table]
    if isinstance(value, (int, float)) and "str | float" in kinds:
        return f"{value}s"  # a duration
    if isinstance(value, (str, int, float, os.PathLike)):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    raise UsageError(f"the option {name!r} cannot be {value!r}")


def environment(options: Mapping[str, Any], without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return the variables of this process, except for those of some options, and the options that may hold secrets."""
    refused = {"BULKCAT_" + name.upper() for name in without}
    variables = {name: value for name, value in os.environ.items() if name not in refused}
    for name, variable in _ENVIRONMENT.items():
        if name in options or variable in variables:
            variables[variable] = Secret(options.get(name, variables.get(variable)))
    return variables


def is_hosted(options: Mapping[str, Any]) -> bool:
    """Report whether a hosted service answers, which may charge for it."""
    return any(options.get(name) or os.environ.get("BULKCAT_" + name.upper()) for name in ("base_url", "profile"))
