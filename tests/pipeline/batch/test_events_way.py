"""The way of an event through a worker: the files it enters, counted by tracing, and the page that names them."""

import re
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.conditions.evaluate import ArrayColumn
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.spec import spec_of
from foresail.pipeline.batch.match_writer import Writing
from foresail.pipeline.batch.parquet_source import Piece
from foresail.pipeline.batch.workers import InPlace, Search

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs" / "an_events_way.md"
CARRIERS = (pa.RecordBatch, pa.Table, EventBatch, Matches, ArrayColumn)
"""What holds events or what became of them."""
KERNELS = {"patterns/recognition/kernel.py"}
"""Entered as machine code, which no tracing sees."""
EVENTS = 6


def carries_events(value: Any) -> bool:
    values = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else (value,)
    return any(isinstance(one, CARRIERS) for one in values)


def files_entered(run: Callable[[], Any]) -> set[str]:
    """Our files in which a function was called with events; that a value is made or measured is no step of the way."""
    entered: set[str] = set()

    def look(frame: FrameType, event: str, _: Any) -> None:
        name, code = frame.f_globals.get("__name__", ""), frame.f_code
        if event != "call" or not name.startswith("foresail.") or code.co_name.startswith("__"):
            return
        given = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        if any(carries_events(frame.f_locals.get(argument)) for argument in given):
            entered.add(name.removeprefix("foresail.").replace(".", "/") + ".py")

    sys.setprofile(look)
    try:
        run()
    finally:
        sys.setprofile(None)
    return entered


def files_of_the_page(heading: str, until: str) -> set[str]:
    part = PAGE.read_text(encoding="utf-8").split(heading, 1)[1].split(until, 1)[0]
    return set(re.findall(r"`((?:patterns|pipeline)/[\w/]+\.py)`", part))


def worker_over(folder: Path) -> Callable[[], Iterable[pa.RecordBatch]]:
    times = pa.array(np.arange(EVENTS), pa.timestamp("us", tz="UTC"))
    events = pa.table({"track": ["a"] * EVENTS, "time": times, "x": [0.0, 1.0] * (EVENTS // 2)})
    pq.write_table(events, folder / "events.parquet")
    search = Search((compile_pattern(spec_of("falls", "low ; high", {"low": "x < 1", "high": "x >= 1"})),))
    piece = Piece(str(folder / "events.parquet"), (0,), EVENTS)
    writing = Writing(InPlace(((piece,),), search), str(folder / "matches"), places=False)
    return lambda: list(writing([pa.RecordBatch.from_pydict({"id": [0]})]))


def test_the_page_names_every_file_that_an_event_enters_in_a_worker(tmp_path: Path) -> None:
    work = worker_over(tmp_path)
    entered = files_entered(work) | KERNELS
    assert pq.read_table(tmp_path / "matches").num_rows == EVENTS // 2
    assert entered <= files_of_the_page("In a worker, per batch of events:", "Events that Spark itself")
    assert len(entered) <= 14


def test_every_file_of_the_page_is_there() -> None:
    named = files_of_the_page("# An event's way", "\0")
    assert len(named) > 20
    assert [file for file in sorted(named) if not (ROOT / file).is_file()] == []


def test_the_tracing_sees_a_file_that_events_enter() -> None:
    batch = EventBatch(np.zeros(1, np.int64), np.zeros(1, np.int64), np.array([0, 1]))
    assert files_entered(lambda: batch.slice(0, 1)) == {"patterns/recognition/events.py"}
