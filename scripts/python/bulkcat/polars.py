"""Registers df.bulkcat with polars, whatever was imported first: import bulkcat.polars."""

import polars  # noqa: F401

from bulkcat import _namespaces

_namespaces.register()
