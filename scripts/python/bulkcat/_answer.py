"""The answer for one input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


class _Level:
    """A level of the path of a category, as the column of this name; None below the last one."""

    def __init__(self, number: int) -> None:
        self._place = number - 1

    def __get__(self, owner: Category | Answer, _: type) -> str | None:
        return owner.levels[self._place] if self._place < len(owner.levels) else None


class _Levels:
    """The columns level_1 ... of the taxonomies of the program; `levels` has those of a deeper one."""

    __slots__ = ()
    level_1, level_2, level_3, level_4 = _Level(1), _Level(2), _Level(3), _Level(4)
    level_5, level_6, level_7 = _Level(5), _Level(6), _Level(7)


@dataclass(frozen=True)
class Category(_Levels):
    """One category of an answer. The names are those of columns."""

    value: str  # such as "Home & Garden > Decor", or the code of an industry
    category_id: str | None
    confidence: float | None
    levels: tuple[str, ...]
    title: str | None = None  # of an industry
    value_local: str | None = None  # with the option language


@dataclass(frozen=True)
class Answer(_Levels):
    """The answer for one input: the first category, and all of them, the best first. The names are those of columns."""

    value: str | None
    category_id: str | None
    confidence: float | None
    status: str  # such as "ok"; the other statuses have no category
    error: str | None  # why there is no category
    levels: tuple[str, ...]
    title: str | None
    value_local: str | None
    categories: tuple[Category, ...]
    source: str | None = None  # with the option source_columns
    basis: str | None = None  # what the answer rests on: "service", "page", "name", "title" or "model"
    answered_at: str | None = None

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Answer:
        """Make the answer of a row with the list of its categories."""
        entries = tuple(_category(entry) for entry in row["categories"])
        first = entries[0] if entries else Category("", None, None, ())
        return cls(
            first.value if entries else None, first.category_id, first.confidence, row["status"], row["error"], first.levels,
            first.title, first.value_local, entries, row.get("source"), row.get("basis"), row.get("answered_at"),
        )  # fmt: skip


def _category(entry: Mapping[str, Any]) -> Category:
    levels = tuple(text for name, text in entry.items() if name.startswith("level_") and text is not None)
    return Category(entry["value"], entry["category_id"], entry["confidence"], levels, entry.get("title"), entry.get("value_local"))
