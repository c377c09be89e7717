"""Categorizes a column of a Spark DataFrame: one process of the program for each task, and one gateway for all.

    import bulkcat.spark

    df = bulkcat.spark.products(df, "title", gateway="http://gateway:8080")

The executors need the wheel, and BULKCAT_API_KEY in their environment or the option api_key_file.
"""

from __future__ import annotations

import bisect
import json
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.csv
from pyspark.sql import DataFrame
from pyspark.sql.types import DoubleType, LongType, StringType, StructField, StructType

from bulkcat import _api, _flags, _run
from bulkcat._errors import Error, UsageError

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from bulkcat import _options

# The depth of each taxonomy, the default of levels.
_LEVELS = {"taxonomy_v3": 4, "naics": 5, "product_taxonomy": 7}
_DEFAULTS = {"website": "taxonomy_v3", "product": "product_taxonomy"}

_COMPLETE = (0, 3)  # exit statuses; 3: some records have no answer, and their rows say why

_SECRETS = frozenset({"api_key", "header", "notify"})  # which would go to the executors within the plan of the job
_OF_TASK = _api._OF_ONE | {"store", "source_columns"}  # options that name files, or change the columns


def websites(
    df: DataFrame,
    column: str,
    *,
    gateway: str | None = None,
    prefix: str = "",
    temporary: str | None = None,
    **options: Unpack[_options.WebsiteOptions],
) -> DataFrame:
    """Categorize websites: URLs or bare domains. See `products`."""
    return _categorize("website", df, column, gateway, prefix, temporary, _flags.seal(options))


def products(
    df: DataFrame,
    column: str,
    *,
    gateway: str | None = None,
    prefix: str = "",
    temporary: str | None = None,
    **options: Unpack[_options.ProductOptions],
) -> DataFrame:
    """Return the columns of df, with their types, and those of the program from status to error: one row per category, and
    one row for a record without a category. top=1 gives one row per record and classification.

    column     the column of the inputs, strings
    gateway    the URL of the gateway; default: BULKCAT_BASE_URL of the executors
    prefix     of the names of the added columns
    temporary  a folder on each executor for the rows of a task; default: that of Python's tempfile

    The other options are those of bulkcat.products. Raises UsageError.

    A task ends with an error if the program ends with another status than 0 and 3. Spark then repeats the task, and the
    gateway has the answers so far.
    """
    return _categorize("product", df, column, gateway, prefix, temporary, _flags.seal(options))


def _categorize(
    kind: str, df: DataFrame, column: str, gateway: str | None, prefix: str, temporary: str | None, given: dict[str, Any]
) -> DataFrame:
    options = _flags.check(kind, given)
    if secrets := sorted(_SECRETS.intersection(options)):
        raise UsageError(f"the option {secrets[0]!r} would be sent with each task: set BULKCAT_API_KEY on the executors, or api_key_file=")
    _api._refuse(options, _OF_TASK, "a DataFrame of Spark")
    options = {"classification": _DEFAULTS[kind], "rate": "0", **options}  # the gateway has the rate
    names = _names(options["classification"])
    levels = options.get("levels", -1)
    if levels < 0:
        levels = options["levels"] = max(_LEVELS.get(name, _LEVELS["product_taxonomy"]) for name in names)
    results = _results("naics" in names, "language" in options, levels)
    if taken := {field.name.lower() for field in df.schema} & {(prefix + name).lower() for name in results}:
        raise UsageError(f"the DataFrame has the columns {sorted(taken)}: set prefix")
    if column not in df.columns or not isinstance(df.schema[column].dataType, StringType):
        raise UsageError(f"the DataFrame has no column {column!r} of strings")
    arguments = [kind, "in.jsonl", "--output=-", "--output-format=csv", "--column=input", "--carry=none", "--store=answers"]
    arguments += [*_flags.flags(options), "--until-stdin-ends", "--quiet"]
    service: dict[str, Any] = {"base_url": gateway} if gateway else {n: options[n] for n in options if n in ("base_url", "profile")}

    def task(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        if not _flags.is_hosted(service):
            raise UsageError("there is no gateway: give gateway=, or set spark.executorEnv.BULKCAT_BASE_URL")
        with tempfile.TemporaryDirectory(prefix="bulkcat-", dir=temporary) as folder:
            rows = Path(folder, "rows.arrow")
            starts = _keep(batches, rows, Path(folder, "in.jsonl"), column)
            if starts[-1] > 0:
                with pa.memory_map(str(rows)) as source:
                    yield from _join(_rows(arguments, service, folder, list(results)), pa.ipc.open_file(source), starts, prefix)

    added = [StructField(prefix + name, type_of()) for name, type_of in results.items()]
    return df.mapInArrow(task, StructType(df.schema.fields + added))


def _names(classification: str | list[str]) -> list[str]:
    return (classification if isinstance(classification, str) else ",".join(classification)).split(",")


def _results(title: bool, local: bool, levels: int) -> dict[str, Any]:
    """The columns that the program adds, with their Spark types."""
    names = ["status", "classification", "rank", "value", "category_id", *(["value_local"] if local else [])]
    names += [*(["title"] if title else []), "confidence", *(f"level_{i + 1}" for i in range(levels)), "error"]
    return {name: {"rank": LongType, "confidence": DoubleType}.get(name, StringType) for name in names}


def _keep(batches: Iterable[pa.RecordBatch], rows: Path, inputs: Path, column: str) -> list[int]:
    """Write the rows of a task to a file of Arrow, and their inputs to a file of JSON lines. Return the number of the first
    row of each batch, from 0, and the number of rows.
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


def _rows(arguments: list[str], service: dict[str, Any], folder: str, results: list[str]) -> Iterator[pa.RecordBatch]:
    """Run the program in folder, and give the rows of its output in batches, in the order of the records.

    The run stops when its standard input ends, so that it does not outlive a killed executor.
    """
    import subprocess

    with open(Path(folder, "log"), "w+b") as log:
        pipe = subprocess.PIPE
        process = _run.start(arguments, service, log, cwd=folder, stdin=pipe, stdout=pipe, without=_OF_TASK)
        assert process.stdin is not None and process.stdout is not None
        try:
            yield from _csv(process.stdout, results)
        except pa.ArrowInvalid:
            if process.wait() in _COMPLETE:
                raise  # otherwise the output ends early, and the status says why
        finally:
            process.stdout.close()  # ends the program if Spark has cancelled the task
            process.stdin.close()
            status = process.wait()
        if status not in _COMPLETE:
            raise _run.ended(status, log)


def _csv(stdout: IO[bytes], results: list[str]) -> Any:
    types = {"record": pa.int64()} | {name: pa.string() for name in results}
    types |= {"rank": pa.int64(), "confidence": pa.float64()}
    return pyarrow.csv.open_csv(
        stdout,
        parse_options=pyarrow.csv.ParseOptions(newlines_in_values=True),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=types, include_columns=list(types), null_values=[""], strings_can_be_null=True
        ),
    )


def _join(output: Iterable[pa.RecordBatch], reader: Any, starts: list[int], prefix: str) -> Iterator[pa.RecordBatch]:
    """Join the rows of the program with the rows of the task, by the number of the record."""
    last = 0
    for batch in output:
        if batch.num_rows == 0:
            continue
        numbers = batch.column("record").to_numpy() - 1
        begin, end = int(numbers[0]), int(numbers[-1])
        if begin > last:
            raise Error(f"the program left out the record {last + 1}")
        last = end + 1
        first, beyond = bisect.bisect_right(starts, begin) - 1, bisect.bisect_right(starts, end)
        rows = pa.Table.from_batches([reader.get_batch(i) for i in range(first, beyond)])
        table = rows.take(pa.array(numbers - starts[first]))
        for name in batch.schema.names[1:]:
            table = table.append_column(prefix + name, batch.column(name))
        yield from table.combine_chunks().to_batches()
    if last != starts[-1]:
        raise Error(f"the program has written {last} of {starts[-1]} records")
