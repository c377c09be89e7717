"""A model of dbt with DuckDB: the products of the model catalog, with their categories."""

import bulkcat


def model(dbt, session):
    """Return the rows of catalog with the columns value, category_id, confidence, level_1 ... and status."""
    dbt.config(materialized="table")
    return bulkcat.products(dbt.ref("catalog").to_arrow_table(), "title")
