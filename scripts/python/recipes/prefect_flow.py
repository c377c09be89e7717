"""A flow of Prefect. A run that stops early is retried after an hour, and asks only for what is missing."""

from prefect import flow, task

import bulkcat


def stopped(_task, _run, state) -> bool:
    """Whether the run stopped early: other errors, and a spent budget, need a person."""
    return isinstance(state.data, bulkcat.Stopped) and not isinstance(state.data, bulkcat.Spent)


@task(retries=24, retry_delay_seconds=3600, retry_condition_fn=stopped)
def categorize(path: str, output: str) -> dict:
    """Categorize the products of a file, and return the counts of the run."""
    return bulkcat.products(path, "title", output=output).counts


@flow
def nightly(path: str = "catalog.jsonl", output: str = "catalog.parquet") -> dict:
    """Categorize the catalog of the day."""
    return categorize(path, output)
