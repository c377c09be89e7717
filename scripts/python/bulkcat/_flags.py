"""Makes flags and environment variables of options."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from numbers import Real
from typing import Any

from bulkcat._errors import UsageError
from bulkcat._options import COMMANDS, PRODUCT, WEBSITE

TABLES = {"website": WEBSITE, "product": PRODUCT, **COMMANDS}

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
        if name in (*_ENVIRONMENT, "header") or not any(name in table for table in TABLES.values()):  # or a misspelt one of these
            if isinstance(value, str):
                options[name] = Secret(value)
            elif isinstance(value, (list, tuple, bytes)):
                options[name] = [Secret(v) for v in value]
    return options


def check(command: str, options: dict[str, Any], arguments: Iterable[str] = ()) -> dict[str, Any]:
    """Return the options that are given, and refuse unknown ones, and texts that no program can be given.

    The function has arguments beside its options, which may have been meant, too.
    """
    known = TABLES.get(command, {})
    for name, value in options.items():
        if name not in known:
            raise UsageError(f"there is no option {name!r}{_nearest(name, command, [*known, *arguments])}")
        for item in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(item, (str, os.PathLike)):
                passable(f"the option {name!r}", os.fspath(item), is_path=name != "header")
    return {name: value for name, value in options.items() if value is not None}


def _nearest(name: str, command: str, known: Iterable[str]) -> str:
    if nearest := near(name.replace("-", "_"), known):
        return nearest
    return "; help(bulkcat.products) lists them" if command in ("website", "product") else f"; there are: {', '.join(known) or 'none'}"


def near(name: Any, known: Iterable[str]) -> str:
    """Return a question with the name that is spelt most like another one, or "" if there is none."""
    import difflib

    names = {n.lower(): n for n in known}
    found = difflib.get_close_matches(str(name).lower(), names, 1, 0.5)
    return f": did you mean {names[found[0]]!r}?" if found else ""


def passable(what: str, text: Any, is_path: bool = True) -> Any:
    """Return a text that the program can be given. A path may have bytes that are no UTF-8, as Python spells them."""
    try:
        encoded = os.fsencode(text) if is_path else text.encode()
    except UnicodeEncodeError:
        raise UsageError(f"{what} has half of a pair of surrogates, or bytes that are no UTF-8: {text!r}") from None
    if b"\0" in encoded:
        raise UsageError(f"{what} has a NUL character: {text!r}")
    return text


def absolute(path: str) -> str:
    """Return the absolute path of a path."""
    try:
        return os.path.abspath(path)
    except FileNotFoundError:
        raise UsageError(f"the working folder has been removed: give an absolute path instead of {path}") from None


def encodable(what: str, text: str) -> None:
    """Refuse half of a pair of surrogates in an input."""
    if not text.isascii() and any("\ud800" <= c <= "\udfff" for c in text):
        raise UsageError(f"{what} has half of a pair of surrogates: {text!r}")


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
    kind = next((table[name][0] for table in TABLES.values() if name in table), "")
    if isinstance(value, datetime) and "datetime" in kind:
        value = value - datetime.now(value.tzinfo)
        if value <= timedelta(0):
            raise UsageError(f"{name}: this time is over")
    if isinstance(value, timedelta) and "timedelta" in kind:
        return f"{value.total_seconds():f}s"
    if isinstance(value, Real):
        from decimal import Decimal

        unit = "s" if kind.startswith("timedelta | float") else "/s" if name.endswith("rate") and value else ""
        return f"{Decimal(str(value)):f}{unit}"  # without an exponent
    if isinstance(value, (str, os.PathLike)):
        return os.fspath(value) if isinstance(value, os.PathLike) else str(value)
    raise UsageError(f"the option {name!r} cannot be {value!r}")


def environment(options: Mapping[str, Any], without: frozenset[str] = frozenset()) -> dict[str, str]:
    """Return the variables of this process, except for those of some options, and the options that may hold secrets."""
    refused = {"BULKCAT_" + name.upper() for name in without}
    variables = {name: value for name, value in os.environ.items() if name not in refused}
    variables |= {variable: options[name] for name, variable in _ENVIRONMENT.items() if name in options}
    variables["BULKCAT_LOG_FORMAT"] = "json"  # of the errors of all commands, also of those without such a flag
    return {name: Secret(value) for name, value in variables.items()}  # any of which may be one


def is_given(options: Mapping[str, Any], name: str) -> bool:
    """Report whether an option is given, or its variable is set."""
    return bool(options.get(name) or os.environ.get("BULKCAT_" + name.upper()))


def is_hosted(options: Mapping[str, Any]) -> bool:
    """Report whether a hosted service answers, which may charge for it."""
    return is_given(options, "base_url") or is_given(options, "profile")


def in_words(message: str) -> str:
    """Return a message of the program with the options of Python instead of flags: overwrite=True for --overwrite."""

    def option(match: re.Match[str]) -> str:
        name = match["name"].replace("-", "_")
        kinds = [table[name][0] for table in TABLES.values() if name in table] or ["str"] * (name in ("column", "output"))
        if not kinds:
            return match[0]
        return f"{name}={match['value'] or ('True' if kinds[0] == 'bool' else '')}"

    message = re.sub(r'invalid argument (".*?") for "(?:-o, )?--([a-z-]+)" flag: ', r"--\2: \1: ", message)
    message = re.sub(r"^--([a-z-]+):", lambda start: start[1].replace("-", "_") + ":", message, flags=re.MULTILINE)
    message = re.sub(r"(?<!\S)-o\b", "--output", message)
    return re.sub(r"(?<![\w-])--(?P<name>[a-z][a-z-]*[a-z])(?:[ =](?P<value>[A-Z0-9][^\s,;:)]*(?::[0-9]+)?))?", option, message)
