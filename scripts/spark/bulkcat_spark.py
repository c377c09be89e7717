"""Categorizes a column of a Spark DataFrame with bulkcat: one process for each task, and one gateway for all.

The executors need the program bulkcat, and in their environment BULKCAT_BASE_URL, the URL of the gateway, and
BULKCAT_API_KEY.
"""

import bisect
import json
import os
import pathlib
import subprocess
import tempfile

import pyarrow as pa
import pyarrow.csv
from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

# LEVELS has the depth of each taxonomy, the default of --levels.
LEVELS = {"taxonomy_v3": 4, "naics": 5, "product_taxonomy": 7}
DEFAULTS = {"website": "taxonomy_v3", "product": "product_taxonomy"}
COMPLETE = (0, 3)  # exit statuses; 3: some records have no answer, and their rows say why


def categorize(df: DataFrame, column: str, kind: str = "website", classification: str = "", levels: int = 0,
               prefix: str = "", bulkcat: str = "bulkcat", flags: tuple = (), temporary: str | None = None) -> DataFrame:
    """Returns the columns of df, with their types, and those of bulkcat: one row per category, and one row for a
    record without a category.

    column          the column of the inputs, strings
    kind            "website" or "product"
    classification  one or several with a comma between; default: taxonomy_v3 or product_taxonomy
    levels          columns level_1, level_2, ...; default: the depth of the taxonomy
    prefix          of the names of the added columns
    bulkcat         the program on each executor
    flags           more flags, such as ["--top", "1"] for one row per record and classification
    temporary       a folder on each executor for the rows of a task; default: that of Python's tempfile

    A task ends with an error if bulkcat ends with another status than 0 and 3. Spark then repeats the task, and
    the gateway has the answers so far.
    """
    classification = classification or DEFAULTS[kind]
    names = classification.split(",")
    levels = levels or max(LEVELS.get(name, LEVELS["product_taxonomy"]) for name in names)
    results = _results("naics" in names, levels)
    taken = {field.name.lower() for field in df.schema} & {(prefix + name).lower() for name in results}
    if taken:
        raise ValueError(f"the DataFrame has the columns {sorted(taken)}: set prefix")
    if not isinstance(df.schema[column].dataType, StringType):
        raise ValueError(f"the column {column} has no strings")
    command = [bulkcat, kind, "in.jsonl", "-o", "-", "--output-format", "csv", "--column", "input", "--carry", "none",
               "--classification", classification, "--levels", str(levels), "--store", "answers", "--rate", "0",  # the gateway has the rate
               "--quiet", *flags]
    added = [StructField(prefix + name, kind()) for name, kind in results.items()]

    def task(batches):
        if not os.environ.get("BULKCAT_BASE_URL"):
            raise RuntimeError("BULKCAT_BASE_URL is not set: set spark.executorEnv.BULKCAT_BASE_URL")
        with tempfile.TemporaryDirectory(prefix="bulkcat-", dir=temporary) as folder:
            rows = pathlib.Path(folder, "rows.arrow")
            starts = _keep(batches, rows, pathlib.Path(folder, "in.jsonl"), column)
            if starts[-1] > 0:
                with pa.memory_map(str(rows)) as source:
                    yield from _join(_run(command, folder, list(results)), pa.ipc.open_file(source), starts, prefix)

    return df.mapInArrow(task, StructType(df.schema.fields + added))


def _results(title: bool, levels: int) -> dict:
    """The columns that bulkcat adds, with their Spark types."""
    names = ["status", "classification", "rank", "value", "category_id", *(["title"] if title else []), "confidence",
             *(f"level_{i + 1}" for i in range(levels)), "error"]
    return {name: {"rank": LongType, "confidence": DoubleType}.get(name, StringType) for name in names}


def _keep(batches, rows: pathlib.Path, inputs: pathlib.Path, column: str) -> list:
    """Writes the rows of a task to a file of Arrow, and their inputs to a file of JSON lines. Returns the number of
    the first row of each batch, from 0, and the number of rows."""
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


def _run(command: list, folder: str, results: list):
    """Runs bulkcat in folder, and gives the rows of its output in batches, in the order of the records."""
    types = {"record": pa.int64()} | {name: pa.string() for name in results}
    types |= {"rank": pa.int64(), "confidence": pa.float64()}
    log = pathlib.Path(folder, "log")
    with open(log, "w") as stderr:
        process = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=stderr)
    try:
        yield from pyarrow.csv.open_csv(
            process.stdout,
            parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=True))
    except pa.ArrowInvalid:
        if process.wait() in COMPLETE:
            raise  # otherwise the output ends early, and the status says why
    finally:
        process.stdout.close()  # ends bulkcat if Spark has cancelled the task
        status = process.wait()
    if status not in COMPLETE:
        raise RuntimeError(f"bulkcat ended with status {status}: {log.read_text()[-2000:]}")


def _join(output, reader, starts: list, prefix: str):
    """Joins the rows of bulkcat with the rows of the task, by the number of the record."""
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
