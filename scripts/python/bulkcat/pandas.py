"""Registers df.bulkcat with pandas, whatever was imported first: import bulkcat.pandas."""

import pandas  # noqa: F401

from bulkcat import _namespaces

_namespaces.register()
