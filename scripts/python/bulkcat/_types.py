"""The types of arguments. No library of frames is imported: a type is known by its methods."""

from __future__ import annotations

from collections.abc import Hashable
from os import PathLike
from typing import Any, Literal, Protocol, TypeAlias, TypedDict, TypeVar

from bulkcat import _options

StrPath: TypeAlias = "str | PathLike[str]"
Kind: TypeAlias = Literal["website", "product"]
Columns: TypeAlias = "Hashable | list[Any] | None"  # a name of pandas may be a tuple


class Frame(Protocol):
    """A frame of pandas or Polars, a table of pyarrow or Ibis, or a relation of DuckDB."""

    @property
    def columns(self) -> Any:
        """The columns, or their names."""


Data = TypeVar("Data", bound=Frame)
Made = TypeVar("Made", covariant=True)


class Series(Protocol[Made]):
    """A Series of pandas or Polars, with the type of its frames."""

    def to_frame(self) -> Made:
        """Make a frame."""

    def head(self, n: int = ..., /) -> Any:
        """Return the first values, which an index does not do."""


class Stream(Protocol):
    """A reader of pyarrow, or what else gives a stream of Arrow."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...


class Array(Protocol):
    """An array of pyarrow."""

    def __arrow_c_array__(self, requested_schema: Any = None) -> Any: ...


class Dataset(Protocol):
    """A dataset of pyarrow."""

    def to_table(self) -> Any:
        """Read all."""


Arrow: TypeAlias = Stream | Array | Dataset


class _Call(TypedDict, total=False):
    prefix: str
    progress: bool | None
    resume: bool
    categorical: bool


class WebsiteCall(_Call, _options.WebsiteOptions, total=False):
    """The options of `websites`."""


class ProductCall(_Call, _options.ProductOptions, total=False):
    """The options of `products`."""


class AnyCall(_Call, _options.WebsiteOptions, _options.ProductOptions, total=False):
    """The options of `submit`."""
