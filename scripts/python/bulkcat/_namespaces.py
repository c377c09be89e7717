"""Registers df.bulkcat for the frames of the libraries that are imported."""

from __future__ import annotations

import sys
from typing import Any

from bulkcat import _api, _flags

_registered: set[str] = set()


class Namespace:
    """The functions of bulkcat for one frame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def websites(self, column: Any = None, **options: Any) -> Any:
        """Categorize websites: see bulkcat.websites."""
        return _api.websites(self._frame, column, **_flags.seal(options))

    def products(self, column: Any = None, **options: Any) -> Any:
        """Categorize products: see bulkcat.products."""
        return _api.products(self._frame, column, **_flags.seal(options))


def register() -> None:
    """Register the namespace with pandas and Polars, if they are imported. Each is asked once."""
    pandas, polars = sys.modules.get("pandas"), sys.modules.get("polars")
    if hasattr(pandas, "api") and hasattr(pandas, "DataFrame") and "pandas" not in _registered:
        _registered.add("pandas")
        for add in (pandas.api.extensions.register_dataframe_accessor, pandas.api.extensions.register_series_accessor):  # type: ignore[union-attr]
            add("bulkcat")(Namespace)
    if hasattr(polars, "api") and hasattr(polars, "LazyFrame") and "polars" not in _registered:
        _registered.add("polars")
        for add in (polars.api.register_dataframe_namespace, polars.api.register_lazyframe_namespace, polars.api.register_series_namespace):  # type: ignore[union-attr]
            add("bulkcat")(Namespace)
