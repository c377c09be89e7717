"""Categorizes websites and products: frames, lists, files, or one at a time.

    import bulkcat

    df = bulkcat.products(df, "title")
    df = bulkcat.websites(df, "domain", classification="naics")
    one = bulkcat.product("Cast iron skillet 12 in")
    run = bulkcat.websites("domains.parquet", output="out/")
    job = bulkcat.submit(df, "title", kind="product")  # in the background

The embedded service answers on this machine, unless base_url= or BULKCAT_BASE_URL names a hosted one.
"""

from __future__ import annotations

from bulkcat import _namespaces
from bulkcat._answer import Answer, Category
from bulkcat._api import (
    Store,
    diff,
    explain,
    product,
    products,
    report,
    store,
    submit,
    top,
    usage,
    verify,
    website,
    websites,
)
from bulkcat._errors import Broken, Error, Misconfigured, Spent, Stopped, UsageError
from bulkcat._job import Job
from bulkcat._progress import Progress
from bulkcat._results import Diff, Forecast, Run, Top, Usage, Verification

__all__ = [
    "Answer",
    "Broken",
    "Category",
    "Diff",
    "Error",
    "Forecast",
    "Job",
    "Misconfigured",
    "Progress",
    "Run",
    "Spent",
    "Stopped",
    "Store",
    "Top",
    "Usage",
    "UsageError",
    "Verification",
    "diff",
    "explain",
    "product",
    "products",
    "report",
    "store",
    "submit",
    "top",
    "usage",
    "verify",
    "website",
    "websites",
]

_namespaces.register()


def __getattr__(name: str) -> str:
    if name == "__version__":
        from importlib.metadata import version

        return version("bulkcat")
    raise AttributeError(f"module 'bulkcat' has no attribute {name!r}")
