"""What the functions return, besides frames and answers."""

from __future__ import annotations

import dataclasses
import typing
from dataclasses import dataclass
from typing import Any

from bulkcat._errors import Error

STATUSES = ("ok", "empty", "rejected", "failed", "invalid", "blank", "pending")


@dataclass(frozen=True)
class Run:
    """A run whose output is in files."""

    path: str
    account: dict[str, Any]  # as in OUTPUT.run.json

    @property
    def counts(self) -> dict[str, Any]:
        """The counts of the account: read, ok, failed, requests and more."""
        counts: dict[str, Any] = self.account["counts"]
        return counts

    def __fspath__(self) -> str:
        return self.path

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Return the rows as a stream of Arrow, which pandas 3, Polars, pyarrow and DuckDB take. It needs pyarrow."""
        from bulkcat._frames import reader_of

        return reader_of(self.path, self.account).__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        """Return the counts as a table of a notebook."""
        import html

        rows = "".join(f"<tr><th>{s}</th><td>{self.counts[s]:,}</td></tr>" for s in (*STATUSES, "requests") if self.counts[s])
        return f"<table><caption>{html.escape(self.path)}</caption>{rows}</table>"

    def __repr__(self) -> str:
        return f"Run({self.path!r}, " + ", ".join(f"{s}={self.counts[s]}" for s in STATUSES if self.counts[s]) + ")"


@dataclass(frozen=True)
class Forecast:
    """What a run would ask and save."""

    records: int
    invalid: int
    blank: int  # records without an input
    distinct: int  # different requests
    repeated: int  # requests that are saved because they equal an earlier one
    answered: int  # of these, with a stored answer
    refresh: int  # stored answers to be asked again
    saved: int  # requests that dedupe="site" saves over "exact", and those that the others save
    saved_by_host: int
    saved_by_domain: int
    to_ask: int
    outlook: dict[str, Any]  # when the run would end, and what would end it
    inputs: list[str]  # of the first records, at most ten; long ones are cut
    column: str = ""  # the input columns, with a comma between
    column_guessed: bool = False
    quota_left: int | None = None  # None: no limit, or the service does not count it
    cost: dict[str, Any] | None = None  # with a price: spent and saved, in units of the currency
    free: int = 0  # requests that a model answers for nothing
    audit: int = 0  # requests that the model would answer, and that are asked as a sample
    if_audit_fails: dict[str, Any] | None = None  # to_ask, cost and outlook if the service agrees with too few free answers


@dataclass(frozen=True)
class Usage:
    """The quota of a service."""

    plan: str
    remaining: int | None  # requests; None: no limit, or the service does not count them


@dataclass(frozen=True)
class Finding:
    """A difference that verify has found."""

    what: str  # a column, or a property of the file or the run
    expected: str
    got: str
    file: str = ""
    record: int = 0  # 0 if it is not about a record


@dataclass(frozen=True)
class Verification:
    """How an output compares with its run, written again."""

    balanced: bool
    findings: list[Finding]  # the first ones
    omitted: int  # further findings
    records: int
    statuses: dict[str, int]  # records by status, in each classification
    rows: int
    files: int
    bytes: int
    inputs_compared: int
    answers_compared: int
    answers_not_compared: int
    classifications: list[str]
    not_checked: list[str] = dataclasses.field(default_factory=list)  # what could not be compared, and why
    free: int = 0  # records that a model has answered for nothing
    audit: dict[str, Any] | None = None  # of these
    expectations: list[dict[str, Any]] = dataclasses.field(default_factory=list)


@dataclass(frozen=True)
class Coverage:
    """The records of a status."""

    status: str
    records: int
    share: float
    reasons: list[dict[str, Any]] = dataclasses.field(default_factory=list)  # the most frequent first, with an example


@dataclass(frozen=True)
class Distribution:
    """The confidences of an output."""

    bins: list[int]  # of equal width from 0 to 1
    outside: int  # below 0 or above 1
    missing: int
    mean: float | None = None


@dataclass(frozen=True)
class TopCategory:
    """A category of an output, with its records."""

    name: str
    path: str
    records: int
    share: float  # of the records with a category
    rows: int  # in which it is a category of any rank
    title: str | None = None  # of an industry
    confidence: float | None = None  # the mean


@dataclass(frozen=True)
class Top:
    """The largest categories of a classification."""

    classification: str
    level: int
    records: int
    coverage: list[Coverage]
    confidence: Distribution
    categories: list[TopCategory]
    more: int  # categories that are left out


@dataclass(frozen=True)
class Side:
    """One of two outputs that are compared."""

    records: int  # each once for each classification
    duplicates: int  # of these, records whose input an earlier record has


@dataclass(frozen=True)
class Move:
    """Inputs that went from one category to another."""

    classification: str
    old: str
    new: str
    inputs: int


@dataclass(frozen=True)
class Diff:
    """The changes between two outputs."""

    old: Side
    new: Side
    unchanged: int
    changes: dict[str, int]  # by kind: added, removed, status, category, confidence
    category_by_level: list[int]  # changes of the category by the first level that differs
    level: int  # of the moves
    moves: list[Move]  # the largest first


def made(kind: Any, value: Any) -> Any:
    """Make the dataclasses of a type of JSON."""
    try:
        return _made(kind, value)
    except TypeError as error:
        raise Error(f"the program is of another version than the package: {error}; see BULKCAT_BINARY") from None


def _made(kind: Any, value: Any) -> Any:
    if typing.get_origin(kind) is list:
        (item,) = typing.get_args(kind)
        return [_made(item, v) for v in value or []]  # null for none
    if not dataclasses.is_dataclass(kind):
        return value
    kinds = typing.get_type_hints(kind)
    return kind(**{name: _made(kinds.get(name), v) for name, v in value.items()})  # type: ignore[operator]


def number(text: str | None) -> int | None:
    """Return a count that the service gives; None if it is no number, such as "unlimited"."""
    return int(text) if text is not None and text.isdecimal() else None
