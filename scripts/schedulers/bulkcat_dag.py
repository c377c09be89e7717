"""Categorizes the lists of the day.

A run that stops early is rescheduled, and asks only for what is missing. Tasks after these run only when all lists are
complete. The workers need bulkcat[airflow], and the Connection "bulkcat": its host is the URL of the service, and its
password the key.
"""

from datetime import datetime

from airflow.sdk import DAG

from bulkcat.airflow import BulkcatOperator

FOLDER = "/srv/lists"

with DAG(
    dag_id="bulkcat",
    schedule="0 22 * * *",
    start_date=datetime(2026, 1, 1),
    catchup=False,
    max_active_runs=1,  # two runs cannot write one output
    default_args={"conn_id": "bulkcat", "deferrable": True, "options": {"rate": "50/s"}},
) as dag:
    websites = BulkcatOperator(
        task_id="websites", kind="website", input_path=f"{FOLDER}/domains.csv", output_path=f"{FOLDER}/domains.parquet"
    )
    products = BulkcatOperator(
        task_id="products", kind="product", input_path=f"{FOLDER}/feeds/*.csv", output_path=f"{FOLDER}/catalog/", column="title"
    )
    websites >> products  # one after the other: both have the same quota
