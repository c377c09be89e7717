# Written by go test ./cmd/bulkcat -run TestPythonOptions -update from the flags of the program.
"""The options of the functions: the flags of the program with underscores."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from datetime import datetime, timedelta
    from os import PathLike
    from typing import TypedDict

    class RunOptions(TypedDict, total=False):
        """The options for websites and products."""

        join: str
        input_format: str
        sheet: str
        dialect: str
        encoding: str
        classification: str | list[str]
        ask_placeholders: bool
        output_format: str
        part_rows: int
        levels: int
        carry: str | list[str]
        source_columns: bool
        shape: str
        top: int
        min_confidence: str
        escape_formulas: bool
        overwrite: bool
        base_url: str
        api_key: str
        api_key_file: str | PathLike[str]
        header: str | list[str]
        header_file: str | PathLike[str]
        ca_file: str | PathLike[str]
        param: str
        param_in: str
        member: str
        timeout: timedelta | float | str
        profile: str | PathLike[str]
        fetch: str
        fetch_rate: float | str
        allow_private: bool
        edition: str | list[str]
        model: str | list[str]
        free: str | PathLike[str]
        precision: str
        audit: str
        rate: float | str
        workers: int
        max_attempts: int
        max_retry_wait: timedelta | float | str
        max_outage: timedelta | float | str
        max_requests: int
        price: float
        price_currency: str
        max_cost: float
        refresh_cost: float
        reserve: int
        wait_for_quota: bool
        finish_by: datetime | timedelta | str
        store: str | PathLike[str]
        max_age: timedelta | str
        refresh_budget: int
        retry_rejected: bool
        expect: str | list[str]
        expect_against: str | PathLike[str]
        expect_else: str
        limit: int
        sample: int
        shard: str
        strict: bool
        keep_going: bool
        partial: bool
        offline: bool
        grace: timedelta | float | str
        report: str | PathLike[str]
        requests: str | PathLike[str]
        notify: str
        notify_on: str | list[str]
        notify_format: str
        on_end: str
        listen: str

    class WebsiteOptions(RunOptions, total=False):
        """The options for websites."""

        scheme: str
        dedupe: str

    class ProductOptions(RunOptions, total=False):
        """The options for products."""

        language: str
        taxonomy: str | list[str]

    class VerifyOptions(TypedDict, total=False):
        """The options for verify."""

        expect: str | list[str]
        expect_against: str | PathLike[str]
        taxonomy: str | list[str]
        model: str | list[str]
        free: str | PathLike[str]
        store: str | PathLike[str]

    class DiffOptions(TypedDict, total=False):
        """The options for diff."""

        output: str | PathLike[str]
        output_format: str
        overwrite: bool
        level: int
        exit_code: bool

    class TopOptions(TypedDict, total=False):
        """The options for top."""

        level: int
        most: int

    class ExplainOptions(TypedDict, total=False):
        """The options for explain."""

        classification: str
        fetch: str
        fetch_rate: float | str
        allow_private: bool
        taxonomy: str | list[str]
        model: str | list[str]
        edition: str | list[str]

    class UsageOptions(TypedDict, total=False):
        """The options for usage."""

        base_url: str
        api_key: str
        api_key_file: str | PathLike[str]
        header: str | list[str]
        header_file: str | PathLike[str]
        ca_file: str | PathLike[str]
        param: str
        param_in: str
        member: str
        timeout: timedelta | float | str
        profile: str | PathLike[str]

# name: (type, meaning)
_RUN = {
    "join": ("str", "the TEXT between the values of several input columns (default  )"),
    "input_format": ("str", "csv, jsonl, txt, parquet, xlsx or xml (default: by name and content)"),
    "sheet": ("str", "the SHEET of an Excel file (default: the first)"),
    "dialect": ("str", "of CSV and text, with a comma between: delimiter=C, quote=C, escape=C, comment=TEXT (none: there is none), header=LINE or header=none (the columns are 1, 2, ...), strict (RFC 4180 and no guesses), as in delimiter=tab,quote=none,header=3 (default: by the content)"),
    "encoding": ("str", "utf-8, utf-16, windows-1252, windows-1251, iso-8859-2, shift_jis, gbk or another label of the WHATWG Encoding Standard (default: by the byte order mark, or else by the content)"),
    "ask_placeholders": ("bool", "also ask for texts that stand for a missing value, such as NULL, N/A and #REF!, which are invalid otherwise"),
    "output_format": ("str", "parquet, csv or jsonl (default: by the output's extension; parquet for a folder)"),
    "part_rows": ("int", "rows of a part, at least, in a folder (default 1000000)"),
    "levels": ("int", "columns level_1, level_2, ... of a category's path; -1 for as many as the taxonomy has levels (default -1)"),
    "carry": ("str | list[str]", "columns of the input to carry along: all, none or a,b (default all)"),
    "source_columns": ("bool", "add the columns source and answered_at, which differ from run to run"),
    "shape": ("str", "SHAPE of the rows: long (a row per category), top (one row per record, with its category of the highest confidence) or nested (one row per record, with a list of its categories; Parquet and JSONL) (default long)"),
    "top": ("int", "the N categories of each record with the highest confidence; 0 for all (default 0)"),
    "min_confidence": ("str", "only categories with a confidence of X or more, such as 0.5 or 50%; a record without such a category has the status empty (default 0)"),
    "escape_formulas": ("bool", "for spreadsheets: a ' before the text of CSV cells that may be formulas"),
    "overwrite": ("bool", "replace an output that another run has written"),
    "base_url": ("str", "the hosted service's URL; without it the embedded service answers"),
    "api_key": ("str", "the key of the hosted service (default: BULKCAT_API_KEY)"),
    "api_key_file": ("str | PathLike[str]", "read the API key from FILE instead of BULKCAT_API_KEY"),
    "header": ("str | list[str]", "send another header, 'Name: value', with every request; may be given several times"),
    "header_file": ("str | PathLike[str]", "more headers from FILE, one on a line: for secrets, which are never printed"),
    "ca_file": ("str | PathLike[str]", "trust the certificate authorities in FILE (PEM) in addition to the system's"),
    "param": ("str", "NAME of the parameter that has the input (default url for websites, query for products), or website=NAME,product=NAME"),
    "param_in": ("str", "place of the parameters: query, form or json (default query)"),
    "member": ("str", "the PATH of the entries in an answer, such as data.{classification}, or . for an answer that is the list (default {classification})"),
    "timeout": ("timedelta | float | str", "for one request, with its answer; the default grows to 2m while the service is slower (default 30s)"),
    "profile": ("str | PathLike[str]", "ask the service as the profile in FILE says, which bulkcat probe has written; other flags override the profile"),
    "fetch": ("str", "whether the embedded service reads the pages of websites: auto, always or never (default auto)"),
    "fetch_rate": ("float | str", "pages at most over all hosts, such as 20/s or 600/m; 0 for no limit; each host gets one request at a time in any case (default 0)"),
    "allow_private": ("bool", "also read pages at addresses of the local network"),
    "edition": ("str | list[str]", "another EDITION of a taxonomy than the default: 3.1 of taxonomy_v3, 2021-09-21 of product_taxonomy; may be given several times"),
    "model": ("str | list[str]", "let the embedded service answer with the model in FILE, which bulkcat learn has made, and ask for its classification unless --classification is given; may be given several times"),
    "free": ("str | PathLike[str]", "answer with the model in FILE (made by bulkcat learn) where the model is sure, and ask the hosted service for the other records; the column source names the model or the service of each row"),
    "precision": ("str", "the share of the answers of --free with which the service has to agree (default 95%)"),
    "audit": ("str", "the share of the requests of --free that the service is asked as well, at random: at least 300 requests; 0 for no audit (default 1%)"),
    "rate": ("float | str", "requests at most, such as 10/s or 600/m; auto learns what the service allows; 0 starts without any limit (default auto)"),
    "workers": ("int", "requests in flight at most; 0 for as many as rate and latency need (default 0)"),
    "max_attempts": ("int", "attempts of a request, before its records are failed (default 8)"),
    "max_retry_wait": ("timedelta | float | str", "longest wait after a response, whatever its Retry-After says (default 15m0s)"),
    "max_outage": ("timedelta | float | str", "stop, resumable, when the service is out for longer than this (default 6h0m0s)"),
    "max_requests": ("int", "stop after N requests of all starts of the run; 0 for no bound (default 0)"),
    "price": ("float", "what a request of the hosted service costs, such as 0.002, for the costs in dry runs, progress, reports and accounts (default 0)"),
    "price_currency": ("str", "the CURRENCY of --price (default USD)"),
    "max_cost": ("float", "stop before the requests of all starts of the run cost more, by --price; each attempt counts; 0 for no bound (default 0)"),
    "refresh_cost": ("float", "ask again for stored answers, as --refresh-budget does, for so much money (default 0)"),
    "reserve": ("int", "stop, resumable, while N requests of the quota are left; -1 for no bound (default -1)"),
    "wait_for_quota": ("bool", "when the quota is used up, wait until there is quota again, instead of stopping"),
    "finish_by": ("datetime | timedelta | str", "stop, resumable, in time to be done by a time of day or within a duration, such as 07:00 or 8h; a run that is started again has the deadline of its first start"),
    "store": ("str | PathLike[str]", "keep answers in FILE, which any number of runs share (default $XDG_STATE_HOME/bulkcat/answers.db, for all runs of the user)"),
    "max_age": ("timedelta | str", "ask again for answers older than this, such as 30d or 12h; 0 for any age (default 0)"),
    "refresh_budget": ("int", "ask again for the N oldest stored answers of the input (default 0)"),
    "retry_rejected": ("bool", "ask again for inputs that the service rejected"),
    "expect": ("str | list[str]", "what must hold of the output, such as 'ok >= 95%' or 'records >= 10000', else the exit status is 4; may be given several times. The figures: records, rows, ok, empty, rejected, failed, invalid, blank, pending, unanswered, categories, confidence.mean, changed, new_categories"),
    "expect_against": ("str | PathLike[str]", "the output of an earlier RUN, with which changed and new_categories compare; without one they are not compared"),
    "expect_else": ("str", "publish an output that breaks an expectation (keep), hold it back (hold), or stop the run, too, as soon as it is clear that one will be broken, after at least 200 records (stop); its answers are stored (default keep)"),
    "limit": ("int", "read only the first N records (default 0)"),
    "sample": ("int", "only N random records of the whole input, in its order: always the same of the same list; the output is one of its own, and the run of the whole list has their answers from the store (default 0)"),
    "shard": ("str", "ask only for the K/Nth part of the input, such as 3/16, into a folder of its own in the output folder; auto takes the place of a task in its array (Slurm, Kubernetes, AWS Batch, Cloud Run) from the environment; see bulkcat finish"),
    "strict": ("bool", "stop at the first invalid record"),
    "keep_going": ("bool", "go on even if the service rejects every input, because the inputs are wrong and not the settings, or has never answered"),
    "partial": ("bool", "ask nothing: write the answers so far, and the other records as pending"),
    "offline": ("bool", "ask nothing: write the answers of a finished run again, in another format or with other columns"),
    "grace": ("timedelta | float | str", "time for requests in flight after the run is interrupted (default 20s)"),
    "report": ("str | PathLike[str]", "write a report on the run to FILE: .html, .md or .json"),
    "requests": ("str | PathLike[str]", "write a row for each attempt to FILE (.csv, .jsonl or .parquet): time, input, classification, status, milliseconds, attempt and cost; FILE.log has the rows of all starts of the run, also of those that were killed"),
    "notify": ("str", "post a message to this URL when the run ends; set BULKCAT_NOTIFY instead if the URL is a secret"),
    "notify_on": ("str | list[str]", "when to post: end, stop (ended early, resumable), outage, quota=80% (of the quota at the start is used), or several with a comma between (default end,stop)"),
    "notify_format": ("str", "of messages: json or slack (default json)"),
    "on_end": ("str", "run CMD in the shell when the run ends, with BULKCAT_RUN_STATUS, BULKCAT_RUN_OUTPUT, BULKCAT_RUN_RECORDS and more in its environment, but without the variables of flags and keys; it is killed after an hour"),
    "listen": ("str", "serve a page about the run or the service, /metrics (Prometheus), /status.json and /healthz on HOST:PORT, such as 127.0.0.1:9464; port 0 takes a free one. Other names than HOST and localhost are refused, because a foreign page could read this one under a name of its own. The page needs no key, and that of a run has inputs of the list: do not expose it to the internet"),
}

WEBSITE = {
    **_RUN,
    "classification": ("str | list[str]", "the classification: taxonomy_v3 or naics, or several with a comma between, each with its own requests and rows (default taxonomy_v3)"),
    "scheme": ("str", "of bare domains, and unless --dedupe exact is given of all websites: https or http (default https)"),
    "dedupe": ("str", "one request for each spelling of a website (exact), for all spellings of a page (site), for all pages of a host (host), or for all hosts of a registrable domain (domain), with rows for each record (default site)"),
}

PRODUCT = {
    **_RUN,
    "classification": ("str | list[str]", "the classification: product_taxonomy or product_taxonomy_custom_NAME, or several with a comma between, each with its own requests and rows (default product_taxonomy)"),
    "language": ("str", "add the column value_local, the path of the category in a LANGUAGE such as de"),
    "taxonomy": ("str | list[str]", "let the embedded service answer in the custom product taxonomy in FILE, as the classification product_taxonomy_custom_ and the name of the file, and ask for it unless --classification is given; NAME=FILE gives the classification a name; may be given several times"),
}

COMMANDS = {
    "verify": {
        "expect": ("str | list[str]", "what must hold of the output, such as 'ok >= 95%' or 'records >= 10000', else the exit status is 4; may be given several times. The figures: records, rows, ok, empty, rejected, failed, invalid, blank, pending, unanswered, categories, confidence.mean, changed, new_categories"),
        "expect_against": ("str | PathLike[str]", "the output of an earlier RUN, with which changed and new_categories compare; without one they are not compared"),
        "taxonomy": ("str | list[str]", "the custom taxonomy of the run, as the run was given it; may be given several times"),
        "model": ("str | list[str]", "the model of the run, as the run was given it; may be given several times"),
        "free": ("str | PathLike[str]", "the model in FILE of the free answers of the run"),
        "store": ("str | PathLike[str]", "the FILE of the stored answers (default that of the run, if it is there)"),
    },
    "diff": {
        "output": ("str | PathLike[str]", "write the changes as rows to FILE, or - for standard output"),
        "output_format": ("str", "parquet, csv or jsonl (default: by the extension of the file; csv on standard output)"),
        "overwrite": ("bool", "replace a file that exists"),
        "level": ("int", "the level N of the categories of the moves (default 1)"),
        "exit_code": ("bool", "end with the status 1 if anything changed, and with 0 if nothing did"),
    },
    "top": {
        "level": ("int", "the level N of the categories, from 1; a record whose category has fewer levels counts for that category (default 1)"),
        "most": ("int", "the N largest categories of each classification; 0 for all (default 20)"),
    },
    "explain": {
        "classification": ("str", "the name of the classification (default taxonomy_v3 or product_taxonomy)"),
        "fetch": ("str", "whether the embedded service reads the pages of websites: auto, always or never (default auto)"),
        "fetch_rate": ("float | str", "pages at most over all hosts, such as 20/s or 600/m; 0 for no limit; each host gets one request at a time in any case (default 0)"),
        "allow_private": ("bool", "also read pages at addresses of the local network"),
        "taxonomy": ("str | list[str]", "let the embedded service answer in the custom product taxonomy in FILE, as the classification product_taxonomy_custom_ and the name of the file, and ask for it unless --classification is given; NAME=FILE gives the classification a name; may be given several times"),
        "model": ("str | list[str]", "let the embedded service answer with the model in FILE, which bulkcat learn has made, and ask for its classification unless --classification is given; may be given several times"),
        "edition": ("str | list[str]", "another EDITION of a taxonomy than the default: 3.1 of taxonomy_v3, 2021-09-21 of product_taxonomy; may be given several times"),
    },
    "usage": {
        "base_url": ("str", "the hosted service's URL; without it the embedded service answers"),
        "api_key": ("str", "the key of the hosted service (default: BULKCAT_API_KEY)"),
        "api_key_file": ("str | PathLike[str]", "read the API key from FILE instead of BULKCAT_API_KEY"),
        "header": ("str | list[str]", "send another header, 'Name: value', with every request; may be given several times"),
        "header_file": ("str | PathLike[str]", "more headers from FILE, one on a line: for secrets, which are never printed"),
        "ca_file": ("str | PathLike[str]", "trust the certificate authorities in FILE (PEM) in addition to the system's"),
        "param": ("str", "NAME of the parameter that has the input (default url for websites, query for products), or website=NAME,product=NAME"),
        "param_in": ("str", "place of the parameters: query, form or json (default query)"),
        "member": ("str", "the PATH of the entries in an answer, such as data.{classification}, or . for an answer that is the list (default {classification})"),
        "timeout": ("timedelta | float | str", "for one request, with its answer; the default grows to 2m while the service is slower (default 30s)"),
        "profile": ("str | PathLike[str]", "ask the service as the profile in FILE says, which bulkcat probe has written; other flags override the profile"),
    },
}
