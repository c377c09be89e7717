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
        min_confidence: float | str
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
        precision: float | str
        audit: float | str
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
        overwrite: bool
        output_format: str
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

# name: (type, group)
_RUN = {
    "join": ("str", "Input"),
    "input_format": ("str", "Input"),
    "sheet": ("str", "Input"),
    "dialect": ("str", "Input"),
    "encoding": ("str", "Input"),
    "classification": ("str | list[str]", "Input"),
    "ask_placeholders": ("bool", "Input"),
    "output_format": ("str", "Output"),
    "part_rows": ("int", "Output"),
    "levels": ("int", "Output"),
    "carry": ("str | list[str]", "Output"),
    "source_columns": ("bool", "Output"),
    "shape": ("str", "Output"),
    "top": ("int", "Output"),
    "min_confidence": ("float | str", "Output"),
    "escape_formulas": ("bool", "Output"),
    "overwrite": ("bool", "Output"),
    "base_url": ("str", "Service"),
    "api_key": ("str", "Service"),
    "api_key_file": ("str | PathLike[str]", "Service"),
    "header": ("str | list[str]", "Service"),
    "header_file": ("str | PathLike[str]", "Service"),
    "ca_file": ("str | PathLike[str]", "Service"),
    "param": ("str", "Service"),
    "param_in": ("str", "Service"),
    "member": ("str", "Service"),
    "timeout": ("timedelta | float | str", "Service"),
    "profile": ("str | PathLike[str]", "Service"),
    "fetch": ("str", "Service"),
    "fetch_rate": ("float | str", "Service"),
    "allow_private": ("bool", "Service"),
    "edition": ("str | list[str]", "Service"),
    "model": ("str | list[str]", "Service"),
    "free": ("str | PathLike[str]", "Free answers"),
    "precision": ("float | str", "Free answers"),
    "audit": ("float | str", "Free answers"),
    "rate": ("float | str", "Pace"),
    "workers": ("int", "Pace"),
    "max_attempts": ("int", "Pace"),
    "max_retry_wait": ("timedelta | float | str", "Pace"),
    "max_outage": ("timedelta | float | str", "Pace"),
    "max_requests": ("int", "Quota and clock"),
    "price": ("float", "Quota and clock"),
    "price_currency": ("str", "Quota and clock"),
    "max_cost": ("float", "Quota and clock"),
    "refresh_cost": ("float", "Quota and clock"),
    "reserve": ("int", "Quota and clock"),
    "wait_for_quota": ("bool", "Quota and clock"),
    "finish_by": ("datetime | timedelta | str", "Quota and clock"),
    "store": ("str | PathLike[str]", "Store"),
    "max_age": ("timedelta | str", "Store"),
    "refresh_budget": ("int", "Store"),
    "retry_rejected": ("bool", "Store"),
    "expect": ("str | list[str]", "Expectation"),
    "expect_against": ("str | PathLike[str]", "Expectation"),
    "expect_else": ("str", "Expectation"),
    "limit": ("int", "Run"),
    "sample": ("int", "Run"),
    "shard": ("str", "Run"),
    "strict": ("bool", "Run"),
    "keep_going": ("bool", "Run"),
    "partial": ("bool", "Run"),
    "offline": ("bool", "Run"),
    "grace": ("timedelta | float | str", "Run"),
    "report": ("str | PathLike[str]", "Run"),
    "requests": ("str | PathLike[str]", "Run"),
    "notify": ("str", "Notification"),
    "notify_on": ("str | list[str]", "Notification"),
    "notify_format": ("str", "Notification"),
    "on_end": ("str", "Notification"),
    "listen": ("str", "Page"),
}

WEBSITE = {
    **_RUN,
    "scheme": ("str", "Input"),
    "dedupe": ("str", "Input"),
}

PRODUCT = {
    **_RUN,
    "language": ("str", "Output"),
    "taxonomy": ("str | list[str]", "Service"),
}

COMMANDS = {
    "verify": {
        "expect": ("str | list[str]", "Expectation"),
        "expect_against": ("str | PathLike[str]", "Expectation"),
        "taxonomy": ("str | list[str]", "Service"),
        "model": ("str | list[str]", "Service"),
        "free": ("str | PathLike[str]", "Service"),
        "store": ("str | PathLike[str]", "Store"),
    },
    "diff": {
        "output": ("str | PathLike[str]", "Output"),
        "overwrite": ("bool", "Output"),
        "output_format": ("str", "Output"),
        "level": ("int", "Output"),
        "exit_code": ("bool", "Output"),
    },
    "top": {
        "level": ("int", "Output"),
        "most": ("int", "Output"),
    },
    "explain": {
        "classification": ("str", "Service"),
        "fetch": ("str", "Service"),
        "fetch_rate": ("float | str", "Service"),
        "allow_private": ("bool", "Service"),
        "taxonomy": ("str | list[str]", "Service"),
        "model": ("str | list[str]", "Service"),
        "edition": ("str | list[str]", "Service"),
    },
    "usage": {
        "base_url": ("str", "Service"),
        "api_key": ("str", "Service"),
        "api_key_file": ("str | PathLike[str]", "Service"),
        "header": ("str | list[str]", "Service"),
        "header_file": ("str | PathLike[str]", "Service"),
        "ca_file": ("str | PathLike[str]", "Service"),
        "param": ("str", "Service"),
        "param_in": ("str", "Service"),
        "member": ("str", "Service"),
        "timeout": ("timedelta | float | str", "Service"),
        "profile": ("str | PathLike[str]", "Service"),
    },
}
