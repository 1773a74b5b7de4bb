"""What a language must bring to be run: a runner over files, frames and Spark, and the table of its results.

A language is one line of `RUNNERS`: the module that has its runner as `RUNNER`.
"""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any, Protocol

import pyarrow as pa

from foresail.patterns.catalog.languages import LanguageEntry
from foresail.patterns.catalog.loader import Catalog
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.frames import Frame
from foresail.pipeline.local.sorted_events import Named

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from foresail.pipeline.jobs.recognise_request import RecogniseRequest
    from foresail.pipeline.local.trying import EventSource
    from foresail.pipeline.progress import Progress

RUNNERS: dict[str, str] = {
    "spaseq": "foresail.pipeline.languages.spaseq.runner",
    "tesla": "foresail.pipeline.languages.tesla.runner",
}
"""By the name of a language the module of its runner."""


@dataclass(frozen=True, slots=True)
class ResultTable:
    """The rows that a language gives: `name` is that of the file or folder, and the key of summaries."""

    name: str
    one: str
    """What a single row is called."""
    by: str
    """The column that says which rule or query a row is of."""
    schema: pa.Schema
    rows: Callable[[pa.Table], Iterator[dict[str, Any]]]
    """Rows as objects of JSON, in their fixed order."""

    def json_lines(self, table: pa.Table) -> Iterator[str]:
        """A JSON object for each row."""
        for row in self.rows(table):
            yield json.dumps(row, ensure_ascii=False)


@dataclass(frozen=True, slots=True)
class Found:
    """What the entries of a language have found in some events."""

    table: pa.Table
    counts: Mapping[str, int]
    """Rows by rule or query, also those without any."""
    events: int
    notes: tuple[str, ...] = ()
    rejected: tuple[str, ...] = ()
    """Rows that are no events, as JSON with the reason of each."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """How much was left out because of a limit, by its name."""
    files: Mapping[str, str] = field(default_factory=dict)
    """Further files that are written beside the rows, by name."""


class Runner(Protocol):
    """How the entries of one language are run."""

    @property
    def results(self) -> ResultTable:
        """What their rows are."""

    def in_files(self, catalog: Catalog, source: "EventSource") -> Found:
        """What they find in files, in this process."""

    def in_frame(self, catalog: Catalog, frame: Frame, named: Named) -> Found:
        """The same in a table in memory."""

    def in_spark(self, spark: "SparkSession", request: "RecogniseRequest", progress: "Progress") -> Found | None:
        """The same by Spark's workers, whose `table` is empty and whose rows are written; None where it cannot be."""


def runner_of(catalog: Catalog) -> Runner | None:
    """The runner of a catalog's entries in another language; None where all are patterns."""
    if not catalog.others:
        return None
    languages = list(dict.fromkeys(entry.language for entry in catalog.others))
    if len(languages) > 1:
        raise InputError(_apart(catalog.others[0], next(e for e in catalog.others if e.language == languages[1])))
    read = {name for entry in catalog.others for name in entry.reads_patterns()}
    alone = [entry.name for entry in catalog.entries if entry.name not in read]
    if alone:
        first = catalog.others[0]
        msg = (
            f"'{alone[0]}' is a pattern and '{first.name}' is written in {first.language}: their results differ in "
            "their columns. Run them apart, each with files of its own."
        )
        raise InputError(msg)
    runner: Runner = import_module(RUNNERS[languages[0]]).RUNNER
    return runner


def _apart(one: LanguageEntry, other: LanguageEntry) -> str:
    return (
        f"'{one.name}' is written in {one.language} and '{other.name}' in {other.language}: their results differ in "
        "their columns. Run them apart, each with files of its own."
    )


def first_rows(found: Found, results: ResultTable, most: int) -> list[dict[str, str]]:
    """The first rows as texts, for people."""
    rows: list[dict[str, str]] = []
    for row in results.rows(found.table):
        if len(rows) == most:
            break
        shown = {name: value for name, value in row.items() if not name.endswith("_id")}
        rows.append({name: _cell(value) for name, value in shown.items()})
    return rows


def _cell(value: Any) -> str:
    if value is None:
        return ""
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else str(value)


def count_rows(table: pa.Table, by: str, names: Sequence[str]) -> dict[str, int]:
    """How many rows each rule or query has, those without any included."""
    counted = dict.fromkeys(names, 0)
    for row in table.column(by).value_counts().to_pylist():
        counted[row["values"]] = row["counts"]
    return counted
