"""Categorizes a column of a Spark DataFrame: one run of bulkcat for each task, and one gateway for all.

    import bulkcat.spark
    products = spark.read.parquet("s3a://shop/products").repartition(64)
    bulkcat.spark.products(products, "title", gateway="http://gateway:8080").write.parquet("s3a://shop/categories")

The executors need this package with its extra spark, and the key of the gateway in their variable BULKCAT_API_KEY.
"""

from __future__ import annotations

import bisect
import json
import os
import pathlib
import subprocess
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any

import pyarrow as pa
import pyarrow.csv
from pyspark.sql import DataFrame
from pyspark.sql.types import DataType, DoubleType, LongType, StringType, StructField, StructType

from bulkcat import _binary, _flags
from bulkcat._errors import UsageError

# The depth of each taxonomy, the default of levels.
_LEVELS = {"taxonomy_v3": 4, "naics": 5, "product_taxonomy": 7}
_DEFAULTS = {"website": "taxonomy_v3", "product": "product_taxonomy"}
_COMPLETE = (0, 3)  # exit statuses; 3: some records have no answer, and their rows say why
_OURS = {"output_format", "input_format", "carry", "store", "quiet", "api_key", "base_url", "part_rows", "shard", "report"}


def websites(
    df: DataFrame, column: str, *, gateway: str | None = None, prefix: str = "", temporary: str | None = None, **options: Any
) -> DataFrame:
    """Return the columns of df, with their types, and those of bulkcat, for a column of websites.

    There is one row for each category, or one for each record with shape="top", and one row for a record without a
    category.

    gateway    the URL of the gateway; without it BULKCAT_BASE_URL of the executors, and without that the embedded service
    prefix     of the names of the added columns
    temporary  a folder on each executor for the rows of a task; default: that of Python's tempfile
    options    those of bulkcat.websites, such as classification="naics" and min_confidence=0.5

    A task ends with an error if bulkcat ends with another status than 0 and 3. Spark then repeats the task, and the
    gateway has the answers so far.
    """
    return _categorize(df, column, "website", gateway, prefix, temporary, options)


def products(
    df: DataFrame, column: str, *, gateway: str | None = None, prefix: str = "", temporary: str | None = None, **options: Any
) -> DataFrame:
    """Return the columns of df and those of bulkcat for a column of product titles, as websites does."""
    return _categorize(df, column, "product", gateway, prefix, temporary, options)


def _categorize(
    df: DataFrame, column: str, kind: str, gateway: str | None, prefix: str, temporary: str | None, options: dict[str, Any]
) -> DataFrame:
    options = _flags.check(kind, options)
    for name in options:
        if name in _OURS:
            raise UsageError(
                f"the option {name!r} is not for Spark: tasks have their own, and the key is in the environment of the executors"
            )
    classification = options.pop("classification", None) or _DEFAULTS[kind]
    names = classification.split(",") if isinstance(classification, str) else list(classification)
    levels = options.pop("levels", None)
    if levels is None or levels < 0:
        levels = max(_LEVELS.get(name, _LEVELS["product_taxonomy"]) for name in names)
    if options.get("shape", "long") not in ("long", "top"):
        raise UsageError("the shape must be long or top")
    results = _results("naics" in names, levels, "language" in options, bool(options.get("source_columns")))
    taken = {field.name.lower() for field in df.schema} & {(prefix + name).lower() for name in results}
    if taken:
        raise UsageError(f"the DataFrame has the columns {sorted(taken)}: set prefix")
    if not isinstance(df.schema[column].dataType, StringType):
        raise UsageError(f"the column {column} has no strings")
    arguments = [
        kind, "in.jsonl", "-o", "-", "--output-format", "csv", "--column", "input", "--carry", "none",
        "--classification", ",".join(names), "--levels", str(levels), "--store", "answers", "--quiet",
        *_flags.flags({"rate": 0, **options}),  # the gateway has the rate
    ]  # fmt: skip
    added = [StructField(prefix + name, kind()) for name, kind in results.items()]

    def task(batches: Iterable[Any]) -> Iterator[Any]:
        variables = dict(os.environ, **({"BULKCAT_BASE_URL": gateway} if gateway else {}))
        with tempfile.TemporaryDirectory(prefix="bulkcat-", dir=temporary) as folder:
            rows = pathlib.Path(folder, "rows.arrow")
            starts = _keep(batches, rows, pathlib.Path(folder, "in.jsonl"), column)
            if starts[-1] > 0:
                with pa.memory_map(str(rows)) as source:
                    output = _run([_binary.find(), *arguments], folder, variables, list(results))
                    yield from _join(output, pa.ipc.open_file(source), starts, prefix)

    return df.mapInArrow(task, StructType(df.schema.fields + added))


def _results(title: bool, levels: int, local: bool, source: bool) -> dict[str, type[DataType]]:
    """Return the columns that bulkcat adds, with their Spark types."""
    names = ["status", "classification", "rank", "value", "category_id", *(["value_local"] if local else []), *(["title"] if title else [])]
    names += ["confidence", *(f"level_{i + 1}" for i in range(levels)), "error", *(["source", "answered_at"] if source else [])]
    return {name: {"rank": LongType, "confidence": DoubleType}.get(name, StringType) for name in names}


def _keep(batches: Iterable[Any], rows: pathlib.Path, inputs: pathlib.Path, column: str) -> list[int]:
    """Write the rows of a task to a file of Arrow, and their inputs to a file of JSON lines.

    Return the number of the first row of each batch, from 0, and the number of rows.
    """
    starts, writer = [0], None
    with open(inputs, "wb") as lines:
        for batch in batches:
            if batch.num_rows == 0:
                continue
            writer = writer or pa.ipc.new_file(str(rows), batch.schema)
            writer.write_batch(batch)
            lines.writelines(map(_line, batch.column(batch.schema.get_field_index(column)).to_pylist()))
            starts.append(starts[-1] + batch.num_rows)
    if writer:
        writer.close()
    return starts


def _line(text: str | None) -> bytes:
    return b'{"input":%s}\n' % json.dumps(text).encode()


def _run(command: list[str], folder: str, variables: dict[str, str], results: list[str]) -> Iterator[Any]:
    """Run bulkcat in folder, and give the rows of its output in batches, in the order of the records."""
    types = {"record": pa.int64()} | {name: pa.string() for name in results}
    types |= {"rank": pa.int64(), "confidence": pa.float64()}
    log = pathlib.Path(folder, "log")
    with open(log, "w") as stderr:
        process = subprocess.Popen(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=stderr)
    try:
        yield from pyarrow.csv.open_csv(
            process.stdout,
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=True
            ),
        )
    except pa.ArrowInvalid:
        if process.wait() in _COMPLETE:
            raise  # otherwise the output ends early, and the status says why
    finally:
        assert process.stdout is not None
        process.stdout.close()  # ends bulkcat if Spark has cancelled the task
        status = process.wait()
    if status not in _COMPLETE:
        raise RuntimeError(f"bulkcat ended with status {status}: {log.read_text()[-2000:]}")


def _join(output: Iterable[Any], reader: Any, starts: list[int], prefix: str) -> Iterator[Any]:
    """Join the rows of bulkcat with the rows of the task, by the number of the record."""
    last = 0
    for batch in output:
        if batch.num_rows == 0:
            continue
        numbers = batch.column("record").to_numpy() - 1
        begin, end = int(numbers[0]), int(numbers[-1])
        if begin > last:
            raise RuntimeError(f"bulkcat left out the record {last + 1}")
        last = end + 1
        first, beyond = bisect.bisect_right(starts, begin) - 1, bisect.bisect_right(starts, end)
        rows = pa.Table.from_batches([reader.get_batch(i) for i in range(first, beyond)])
        table = rows.take(pa.array(numbers - starts[first]))
        for name in batch.schema.names[1:]:
            table = table.append_column(prefix + name, batch.column(name))
        yield from table.combine_chunks().to_batches()
    if last != starts[-1]:
        raise RuntimeError(f"bulkcat has written {last} of {starts[-1]} records")
