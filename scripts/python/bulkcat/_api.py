"""The functions of the package."""

from __future__ import annotations

import contextlib
import functools
import logging
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, overload

from bulkcat import _flags
from bulkcat._answer import Answer
from bulkcat._errors import Spent, Stopped, UsageError

if TYPE_CHECKING:
    from typing import Literal, NoReturn

    from typing_extensions import Unpack

    from bulkcat import _frames, _options
    from bulkcat._job import Job
    from bulkcat._results import Diff, Forecast, Run, Top, Usage, Verification
    from bulkcat._run import Control
    from bulkcat._types import AnyCall, Arrow, Columns, Data, Kind, Made, ProductCall, Series, StrPath, WebsiteCall
    from bulkcat._work import Work

# Options that are about files, and have no meaning for the rows of a frame. Their variables do not count either.
_OF_INPUTS = frozenset("input_format sheet dialect encoding carry limit sample shard strict output column dry_run".split())
_OF_OUTPUTS = frozenset("output_format part_rows escape_formulas overwrite offline".split())
_OF_FILES = _OF_INPUTS | _OF_OUTPUTS
_OF_ONE = _OF_FILES | frozenset("join shape report requests partial refresh_budget expect expect_against expect_else".split())


_SPENT = "the budget is that of this call and its resume() calls, and a new call without output= has its own"


class _Call(NamedTuple):
    """The arguments of `websites` and `products`, except for the data."""

    kind: str
    column: Any
    output: Any  # a path as a text, once it is checked, or None
    prefix: str
    dry_run: bool
    progress: bool | None
    resume: bool
    categorical: bool
    options: dict[str, Any]
    control: Control
    work: Work | None = None  # of the call that this one goes on with, if that has no output


@overload
def websites(
    data: object, column: Columns = ..., *, output: StrPath | None = ..., dry_run: Literal[True], **o: Unpack[WebsiteCall]
) -> Forecast: ...
@overload
def websites(data: object, column: Columns = ..., *, output: StrPath, **o: Unpack[WebsiteCall]) -> Run: ...
@overload
def websites(data: StrPath, column: Columns = ..., **o: Unpack[WebsiteCall]) -> NoReturn: ...
@overload
def websites(data: Series[Made], column: Columns = ..., **o: Unpack[WebsiteCall]) -> Made: ...
@overload
def websites(data: Data, column: Columns = ..., **o: Unpack[WebsiteCall]) -> Data: ...
@overload
def websites(data: Arrow, column: Columns = ..., **o: Unpack[WebsiteCall]) -> Any: ...  # a table of pyarrow
@overload
def websites(data: Iterable[object], column: Columns = ..., **o: Unpack[WebsiteCall]) -> list[Answer]: ...
@overload
def websites(
    data: object, column: Columns = ..., *, output: StrPath | None = ..., dry_run: bool = ..., **o: Unpack[WebsiteCall]
) -> Any: ...
def websites(
    data: Any,
    column: Any = None,
    *,
    output: Any = None,
    prefix: str = "",
    dry_run: bool = False,
    progress: bool | None = None,
    resume: bool = True,
    categorical: bool = False,
    **options: Any,
) -> Any:
    """Categorize websites: URLs or bare domains. See `products`."""
    call = _Call("website", column, output, prefix, dry_run, progress, resume, categorical, _flags.seal(options), _control())
    return _prepared(data, call)()


@overload
def products(
    data: object, column: Columns = ..., *, output: StrPath | None = ..., dry_run: Literal[True], **o: Unpack[ProductCall]
) -> Forecast: ...
@overload
def products(data: object, column: Columns = ..., *, output: StrPath, **o: Unpack[ProductCall]) -> Run: ...
@overload
def products(data: StrPath, column: Columns = ..., **o: Unpack[ProductCall]) -> NoReturn: ...
@overload
def products(data: Series[Made], column: Columns = ..., **o: Unpack[ProductCall]) -> Made: ...
@overload
def products(data: Data, column: Columns = ..., **o: Unpack[ProductCall]) -> Data: ...
@overload
def products(data: Arrow, column: Columns = ..., **o: Unpack[ProductCall]) -> Any: ...  # a table of pyarrow
@overload
def products(data: Iterable[object], column: Columns = ..., **o: Unpack[ProductCall]) -> list[Answer]: ...
@overload
def products(
    data: object, column: Columns = ..., *, output: StrPath | None = ..., dry_run: bool = ..., **o: Unpack[ProductCall]
) -> Any: ...
def products(
    data: Any,
    column: Any = None,
    *,
    output: Any = None,
    prefix: str = "",
    dry_run: bool = False,
    progress: bool | None = None,
    resume: bool = True,
    categorical: bool = False,
    **options: Any,
) -> Any:
    """Categorize products, titles or URLs: the rows come back with new columns.

    data         a frame or Series of pandas or Polars; a table, an array or a
                 dataset of pyarrow; a relation of DuckDB; texts, which give
                 Answers; or a path or a pattern of files, with an output
    column       of the inputs, or a list of columns whose values are joined
    output       a file or folder for the rows: the result is a Run, which the
                 same call continues, unless resume is False
    dry_run      ask nothing, and return a Forecast
    prefix       of the new columns: value, category_id, confidence, level_1 ...
    categorical  make categories of their texts
    progress     show a bar; the log "bulkcat" has warnings, and lines elsewhere

    Often used:
      shape           "top" (the first category), "nested" (a list of all) or
                      "long" (a row for each, with the number of the record)
      top, min_confidence        the best categories alone
      classification             of the categories, or a list of several
      base_url, api_key          the hosted service; default: the embedded one
      rate                       requests a second, or "600/m"
      max_requests, finish_by    stop after so many, or in time for a datetime
      expect                     "ok >= 95%" or more, else Broken is raised

    Raises Stopped, Broken, Misconfigured, UsageError or Error. Rows without an
    answer have a status that says why. Ctrl-C returns the rows so far.
    """
    call = _Call("product", column, output, prefix, dry_run, progress, resume, categorical, _flags.seal(options), _control())
    return _prepared(data, call)()


@overload
def submit(data: object, column: Columns = ..., *, kind: Kind, output: StrPath, **o: Unpack[AnyCall]) -> Job[Run]: ...
@overload
def submit(data: StrPath, column: Columns = ..., *, kind: Kind, **o: Unpack[AnyCall]) -> NoReturn: ...
@overload
def submit(data: Series[Made], column: Columns = ..., *, kind: Kind, **o: Unpack[AnyCall]) -> Job[Made]: ...
@overload
def submit(data: Data, column: Columns = ..., *, kind: Kind, **o: Unpack[AnyCall]) -> Job[Data]: ...
@overload
def submit(data: Arrow, column: Columns = ..., *, kind: Kind, **o: Unpack[AnyCall]) -> Job[Any]: ...  # a table of pyarrow
@overload
def submit(data: Iterable[object], column: Columns = ..., *, kind: Kind, **o: Unpack[AnyCall]) -> Job[list[Answer]]: ...
def submit(
    data: Any,
    column: Any = None,
    *,
    kind: Kind,
    output: Any = None,
    prefix: str = "",
    progress: bool | None = None,
    resume: bool = True,
    categorical: bool = False,
    **options: Any,
) -> Any:
    """Begin what `products` or `websites` does, and return the Job; kind is "product" or "website".

        with bulkcat.submit(df, "title", kind="product") as job:
            while not job.wait(10):
                print(job.progress)
            df = job.result()

    `await job` gives the result, too. job.cancel(), leaving the block and cancelling the task let the requests in flight end,
    and send no others. There is no bar unless progress is True.
    """
    from bulkcat._job import Job

    if kind not in ("product", "website"):
        raise UsageError(f'kind is {kind!r}, want "product" or "website"')
    call = _Call(kind, column, output, prefix, False, progress, resume, categorical, _flags.seal(options), _control(is_job=True))
    return Job(_prepared(data, call), call.control)


def _control(is_job: bool = False) -> Control:
    from bulkcat._run import Control

    return Control(is_job)


def website(text: str | None, **options: Unpack[_options.WebsiteOptions]) -> Answer:
    """Categorize one website."""
    return _ask("website", text, _flags.seal(options))


def product(text: str | None, **options: Unpack[_options.ProductOptions]) -> Answer:
    """Categorize one product."""
    return _ask("product", text, _flags.seal(options))


def _document(function: Callable[..., Any], without: frozenset[str]) -> None:
    """Add the options of a function to its help, by their groups."""
    import inspect
    import textwrap

    if not function.__doc__:  # with python -OO
        return
    kind, groups = function.__name__.rstrip("s"), dict[str, list[str]]()
    for name, (_, group) in _flags.TABLES[kind].items():
        if name not in without:
            groups.setdefault(group, []).append(name)
    function.__doc__ = inspect.cleandoc(function.__doc__) + f"\n\nAll options; `python -m bulkcat {kind} --help` explains them:\n"
    for group, names in groups.items():
        text = f"{group + ':':16} {', '.join(names)}"
        function.__doc__ += textwrap.fill(text, 76, initial_indent=" " * 2, subsequent_indent=" " * 19) + "\n"


_document(websites, _OF_FILES)
_document(products, _OF_FILES)
_document(website, _OF_ONE)
_document(product, _OF_ONE)


def _ask(kind: str, text: str | None, options: Any) -> Answer:
    from bulkcat import _one

    options = _flags.check(kind, options)
    _refuse(options, _OF_ONE, "one input")
    return _one.ask(kind, text, options, _OF_ONE)


def _refuse(options: Iterable[str], refused: frozenset[str], what: str) -> None:
    if names := sorted(refused.intersection(options)):
        raise UsageError(f"the option {names[0]!r} has no meaning for {what}")


def _prepared(data: Any, call: _Call) -> Callable[[], Any]:
    """Check a call, and return what makes it."""
    from bulkcat import _frames, _namespaces, _one

    _namespaces.register()
    _one.close()
    output = None if call.output is None else _flags.passable("the output", os.fspath(call.output))
    call = call._replace(
        options=_flags.check(call.kind, call.options, ["column", "output", "prefix", "dry_run", "progress", "resume", "categorical"]),
        output=output,
    )
    _flags.passable("the prefix", call.prefix, is_path=False)
    _check_output(call)
    if isinstance(call.column, (list, tuple)) and not call.column:
        raise UsageError("column=[] names no column; without column= the only column is taken")
    is_path = isinstance(data, (str, os.PathLike))
    frame = None if is_path else _frames.frame_of(data)
    if call.categorical and (output or frame is None):
        raise UsageError("categorical=True is for frames: files have texts, and texts have Answers")
    if is_path:
        return functools.partial(_categorize_files, os.fspath(data), call)
    return functools.partial(_categorize_frame, frame or _frames.ListFrame(_listed(data)), call)


def _listed(data: Any) -> list[Any]:
    """The texts of an iterable. Frames of other libraries would give the names of their columns."""
    of_another = hasattr(data, "__dataframe__") or hasattr(data, "columns") or hasattr(data, "__arrow_c_stream__")
    if not isinstance(data, Iterable) or isinstance(data, (bytes, bytearray, memoryview, Mapping)) or of_another:
        known = "a frame of pandas, Polars, pyarrow or DuckDB, texts or a path"
        raise UsageError(f"want {known}, and not {type(data).__module__}.{type(data).__qualname__}")
    try:
        values = iter(data)
    except TypeError as error:  # an array of NumPy without a dimension
        raise UsageError(f"the data has no texts: {error}") from None
    return list(values)


def _check_output(call: _Call) -> None:
    """Refuse resume=False if there is an output that the call would continue."""
    if call.resume:
        return
    if not call.output or "://" in call.output:
        raise UsageError("resume=False is for a call with an output on this machine: the answers of other calls are stored in any case")
    if os.path.exists(call.output) and not call.options.get("overwrite"):
        raise UsageError(f"{call.output} exists: use overwrite=True to replace it")


def _categorize_files(path: str, call: _Call) -> Run | Forecast:
    from bulkcat import _results, _run
    from bulkcat._progress import Bar

    columns = call.column if isinstance(call.column, (list, tuple)) else [call.column] if call.column is not None else []
    operand = os.path.join(os.curdir, path) if path.startswith("-") else path  # which is no flag
    arguments = [call.kind, _flags.passable("the path", operand)]
    arguments += [_flags.passable("the column", f"--column={name}") for name in columns]
    if call.dry_run:
        return _forecast(arguments + ([f"--output={call.output}"] if call.output else []), call, frozenset())
    if not call.output:
        raise UsageError(f"{path!r} is a path, which needs output=; for a text use bulkcat.{call.kind}, or a list of texts")
    bar = call.control.follow(Bar(_run.status_of(call.output), call.progress, call.control.is_job))
    try:
        account = _run.run(
            arguments, call.options, call.output, call.control, bar, frozenset({"dry_run", "limit", "sample"}) - call.options.keys()
        )
    except Stopped as stopped:
        stopped._again = lambda partial, bounds: _categorize_files(path, _again(call, partial, bounds))
        raise
    finally:
        bar.close()
    return _results.Run(account["settings"]["output"] if account["settings"].get("shard") else call.output, account)


def _again(call: _Call, partial: bool, bounds: dict[str, Any], work: Work | None = None) -> _Call:
    """The same call with other bounds, or one that asks nothing, and so needs no bounds."""
    left_out = ("max_requests", "reserve", "finish_by") if partial else ()
    options = {name: value for name, value in call.options.items() if name not in left_out}
    options = {**options, **bounds, "partial": partial}
    return call._replace(options=options, resume=True, control=_control(), work=None if partial else work)


def _forecast(arguments: list[str], call: _Call, without: frozenset[str]) -> Forecast:
    from bulkcat import _results, _run

    figures = _run.forecast(arguments, call.options, without)
    forecast: Forecast = _results.made(_results.Forecast, {**figures, "quota_left": _results.number(figures.get("quota_left"))})
    return forecast


def _categorize_frame(frame: _frames.Frame, call: _Call) -> Any:
    import dataclasses

    from bulkcat import _frames
    from bulkcat._work import Work

    _refuse(call.options, _without(call), "a frame" if call.output else "a frame without an output")
    frame.categorical = call.categorical
    columns = _columns(frame, call)
    _check_names(frame, call, _NEW + ("|title" if "naics" in _classifications(call) else ""))
    if isinstance(frame, _frames.ListFrame) and not call.output:
        _refuse(call.options, frozenset({"shape"}), "texts, which have Answers")
        if len(_classifications(call)) > 1:
            raise UsageError("texts have one classification at a time")
    form = _frames.format_for(frame)
    elsewhere = bool(call.output) or _flags.is_given(call.options, "store")
    with call.work or Work(elsewhere, _flags.is_hosted(call.options)) as work, _input_path(call, work) as path:
        path, names = _frames.send(frame, columns, path)
        arguments = [call.kind, path, *(f"--column={name}" for name in names), f"--input-format={form}"]
        if call.dry_run:
            forecast = _forecast([*arguments, "--output=" + (call.output or work.path(form))], call, _without(call))
            return dataclasses.replace(forecast, column=", ".join(map(str, columns)))  # which have other names in the file
        try:
            return _run_frame(frame, call, work, arguments)
        except Stopped as stopped:
            stopped._again = lambda partial, bounds: _categorize_frame(frame, _again(call, partial, bounds, work))
            if isinstance(stopped, Spent) and not call.output:
                stopped.args = (f"{stopped}; {_SPENT}",)
            if not stopped.interrupted or call.output or call.control.is_job:
                raise
            interrupted = stopped
    return _what_is_there(interrupted, call)


def _what_is_there(interrupted: Stopped, call: _Call) -> Any:
    """The result of a call that Ctrl-C has ended."""
    if call.options.get("partial"):  # which reads what is there; Ctrl-C ended that, too
        raise KeyboardInterrupt from interrupted
    logging.getLogger("bulkcat").warning('interrupted: rows without an answer have the status "pending"; the same call asks for them')
    return interrupted.result()


def _without(call: _Call) -> frozenset[str]:
    """The options that have no meaning for the rows of a frame."""
    return _OF_INPUTS if call.output else _OF_FILES


@contextlib.contextmanager
def _input_path(call: _Call, work: Work) -> Iterator[str]:
    """The beginning of the path of the rows of a frame: the same for all calls with an output, since a run is continued with
    its input.
    """
    import hashlib

    from bulkcat import _claim
    from bulkcat._work import usable_state_folder

    if call.dry_run or not call.output:
        yield work.path("input")
        return
    if "://" in call.output:
        folder, name = usable_state_folder(True), hashlib.sha256(call.output.encode()).hexdigest()
    else:
        folder, name = os.path.split(_flags.passable("the output", _flags.absolute(call.output), is_path=False))  # for pyarrow
    if not os.path.isdir(folder):
        raise UsageError(f"the folder of {call.output} is not there")
    path = os.path.join(folder, f".{name}.input")
    with _claim.claimed(path, call.output):
        yield path


def _columns(frame: _frames.Frame, call: _Call) -> list[Any]:
    """The input columns."""
    names = frame.names()
    if call.column is None:
        if len(names) != 1:
            raise UsageError(f"which column has the {call.kind}s? The columns are: {', '.join(map(str, names))}")
        return names
    wanted: list[Any] = call.column if isinstance(call.column, list) else [call.column]
    for name in wanted:
        if names.count(name) != 1:
            number = "are several columns" if name in names else "is no column"
            near = "" if name in names else _flags.near(name, [n for n in names if isinstance(n, str)])
            raise UsageError(f"there {number} {name!r}{near or '; the columns are: ' + ', '.join(map(str, names))}")
    return wanted


def _classifications(call: _Call) -> list[str]:
    given = call.options.get("classification") or os.environ.get("BULKCAT_CLASSIFICATION", "")
    return [c for text in ([given] if isinstance(given, str) else given) for c in text.split(",")]


# The names of new columns. A column title is that of industries alone.
_NEW = "value|category_id|value_local|confidence|status|error|categories|source|basis|answered_at|level_[0-9]+"


def _check_names(frame: _frames.Frame, call: _Call, new: str) -> None:
    """Refuse names of new columns, a pattern, that the frame has."""
    if call.output or call.options.get("shape") == "long":
        return
    several = _classifications(call)
    prefixes = [call.prefix + c + "_" for c in several] if len(several) > 1 else [call.prefix]
    pattern = re.compile(f"({'|'.join(map(re.escape, prefixes))})({new})", re.IGNORECASE if frame.ignores_case else 0)
    first = (n[0] if isinstance(n, tuple) and n else n for n in frame.names())  # pandas sets all columns below a first level
    taken = [n for n in first if isinstance(n, str) and pattern.fullmatch(n)]
    if taken:
        raise UsageError(f'the frame has a column {min(taken)!r}: choose another name with prefix=, such as prefix="bulkcat_"')


def _run_frame(frame: _frames.Frame, call: _Call, work: Work, arguments: list[str]) -> Any:
    from bulkcat import _frames, _results, _run
    from bulkcat._progress import Bar

    form = _frames.format_for(frame)
    shape = "nested" if isinstance(frame, _frames.ListFrame) and not call.output else call.options.get("shape", "top")
    output = call.output or work.path(form)
    arguments = [*arguments, f"--shape={shape}", "--carry=none", *([] if call.output else [f"--output-format={form}"])]
    options = {name: value for name, value in call.options.items() if name != "shape"}
    bar = call.control.follow(Bar(_run.status_of(output), call.progress, call.control.is_job))
    try:
        account = _run.run(arguments, options, output, call.control, bar, _without(call), frame.length() > 0, _frames.named)
    except Stopped:
        if not call.output:
            work.keep(_run.beside(output, "run.json"))  # which counts the bounds
        raise
    finally:
        bar.close()
    if call.output:
        return _results.Run(call.output, account)
    rows = _frames.receive(frame, output)
    rows["error"] = _frames.without_prefix(rows["error"], arguments[1])
    if shape == "long":
        return frame.made(_renamed(rows, call.prefix, {"record", "classification", "rank"}))
    return _joined(frame, call, rows)


def _joined(frame: _frames.Frame, call: _Call, rows: _frames.Columns) -> Any:
    """The frame with the columns of its rows, for each classification."""
    from bulkcat import _frames

    if "title" in rows:  # a model, whose classification is not named, may have industries, too
        _check_names(frame, call, "title")
    several = _classifications(call)
    if len(several) < 2:
        _frames.check_rows(rows, frame.length())
        return frame.extended(_renamed(rows, call.prefix, set()) if not isinstance(frame, _frames.ListFrame) else rows)
    new: _frames.Columns = {}
    for name in several:
        own = _frames.where(rows, "classification", name)
        _frames.check_rows(own, frame.length())
        new |= _renamed(own, f"{call.prefix}{name}_", set())
    return frame.extended(new)


def _renamed(rows: _frames.Columns, prefix: str, kept: set[str]) -> _frames.Columns:
    """The columns for a frame, with their names there. No column stays in rows, so that each can be freed once it is used."""
    from bulkcat._frames import typed

    last = ("status", "error", "source", "basis", "answered_at")
    dropped = {"record", "input", "rank", "classification"} - kept
    order = [n for n in rows if n not in dropped and n not in last] + [n for n in last if n in rows]
    first = [n for n in ("record", "classification", "rank") if n in order]
    renamed = {prefix + n: typed(n, rows[n]) for n in first + [n for n in order if n not in first]}
    rows.clear()
    return renamed


def verify(output: StrPath, *inputs: StrPath, **options: Unpack[_options.VerifyOptions]) -> Verification:
    """Write a run again, offline, and compare its output and its account with it."""
    from bulkcat import _results

    result: Verification = _results.made(_results.Verification, _call("verify", [output, *inputs], options))
    return result


def diff(old: StrPath, new: StrPath, **options: Unpack[_options.DiffOptions]) -> Diff:
    """Count the changes between two outputs; output= writes them as rows."""
    from bulkcat import _results

    result: Diff = _results.made(_results.Diff, _call("diff", [old, new], options))
    return result


def top(output: StrPath, **options: Unpack[_options.TopOptions]) -> list[Top]:
    """Return the largest categories of an output, its coverage and its confidence, for each classification."""
    from bulkcat import _results

    result: list[Top] = _results.made(list[_results.Top], _call("top", [output], options))
    return result


def report(output: StrPath) -> dict[str, Any]:
    """Report on an output and its run."""
    result: dict[str, Any] = _call("report", [output], {}, "--format=json")
    return result


def explain(kind: Kind, text: str, **options: Unpack[_options.ExplainOptions]) -> dict[str, Any]:
    """Show which words decided the answer of the embedded service."""
    result: dict[str, Any] = _call("explain", [kind, text], options)
    return result


def usage(**options: Unpack[_options.UsageOptions]) -> Usage:
    """Return the plan and the quota left."""
    from bulkcat import _results

    answer = _call("usage", [], options)
    return _results.Usage(answer["plan"], _results.number(answer["remaining"]))


def _call(command: str, operands: list[Any], options: Any, form: str = "--json") -> Any:
    """The JSON that a command prints. Its options are its flags with underscores."""
    from bulkcat import _run

    options = _flags.check(command, _flags.seal(options))
    operands = [_flags.passable("an argument", os.fspath(operand)) for operand in operands]
    return _run.call([*command.split(), *_flags.flags(options), form, "--", *operands], options)


class Store:
    """A store of answers on this machine."""

    def __init__(self, path: str) -> None:
        self.path = path

    @property
    def bytes(self) -> int:
        """Its size on disk."""
        return sum(os.path.getsize(path) for path in self._files())

    def _files(self) -> list[str]:
        return [path for path in (self.path + end for end in ("", "-wal", "-shm", "-journal")) if os.path.exists(path)]

    @property
    def answers(self) -> int:
        """The number of its answers, without rejections."""
        return sum(group["answers"] for group in self.stats()["groups"])

    def stats(self) -> Any:
        """Count the answers, and say how old they are."""
        from bulkcat import _run

        return _run.call(["store", "stats", "--store", _flags.passable("an argument", self.path), "--json"], {})

    def delete(self, *inputs: str) -> None:
        """Delete the answers for inputs, or the whole store."""
        from bulkcat import _one, _run

        _one.close()
        if inputs:
            _run.command(["store", "delete", "--store", self.path, "--", *(_flags.passable("an argument", text) for text in inputs)])
        elif os.path.exists(self.path):
            self.stats()  # refuses a file that is no store
            for path in self._files():
                os.remove(path)

    def __repr__(self) -> str:
        return f"Store({self.path!r}, bytes={self.bytes})"


def store(path: str | os.PathLike[str] | None = None) -> Store:
    """Return the store of the user, or another one."""
    from bulkcat._work import state_folder

    return Store(_flags.absolute(os.fspath(path)) if path is not None else os.path.join(state_folder(), "answers.db"))
