"""An asset of Dagster: the categories of a catalog, with the figures and the cost of the run as its metadata.

A run that stops early, such as at the end of the quota, is retried after an hour, and asks only for what is missing.
"""

import dagster as dg

import bulkcat


class Catalog(dg.Config):
    """The files of the asset."""

    input: str = "catalog.jsonl"
    output: str = "catalog.parquet"


@dg.asset
def categories(config: Catalog) -> dg.MaterializeResult:
    """The categories of each product."""
    try:
        run = bulkcat.products(config.input, "title", output=config.output)
    except bulkcat.Spent as spent:
        raise dg.Failure(str(spent), allow_retries=False) from spent
    except bulkcat.Stopped as stopped:
        raise dg.RetryRequested(max_retries=24, seconds_to_wait=3600) from stopped
    largest = bulkcat.top(config.output, most=5)[0].categories
    counts = {f"bulkcat/{name}": run.counts[name] for name in ("ok", "empty", "rejected", "failed", "invalid", "blank")}
    return dg.MaterializeResult(
        metadata={
            "dagster/row_count": run.counts["rows"],
            **counts,
            "bulkcat/requests": bulkcat.report(config.output)["run"]["cost"]["made"],  # also by the starts that stopped early
            "bulkcat/quota_left": str(bulkcat.usage().remaining),
            "bulkcat/largest": dg.MetadataValue.md("\n".join(f"- {c.path}: {c.records}" for c in largest)),
        }
    )


defs = dg.Definitions(assets=[categories])
