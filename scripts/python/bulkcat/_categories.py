"""The answer for one input."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple


class Category(NamedTuple):
    """One category of an answer."""

    path: str  # such as "Home & Garden > Decor", or the code of an industry
    id: str | None
    confidence: float | None
    levels: tuple[str, ...]
    title: str | None = None  # of an industry


class Categories(NamedTuple):
    """The answer for one input: the first category, and all of them, the best first."""

    path: str | None
    id: str | None
    confidence: float | None
    status: str  # such as "ok"; the other statuses have no category
    error: str | None  # why there is no category
    levels: tuple[str, ...]
    title: str | None
    all: tuple[Category, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Categories:
        """Make the answer of a row with the list of its categories."""
        entries = tuple(_category(entry) for entry in row["categories"])
        first = entries[0] if entries else Category("", None, None, ())
        path = first.path if entries else None
        return cls(path, first.id, first.confidence, row["status"], row["error"], first.levels, first.title, entries)


def _category(entry: Mapping[str, Any]) -> Category:
    levels = tuple(text for name, text in entry.items() if name.startswith("level_") and text is not None)
    return Category(entry["value"], entry["category_id"], entry["confidence"], levels, entry.get("title"))
