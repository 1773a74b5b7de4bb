"""Learning on the way, in the worker: what passes is counted for every model, and the counts are sent to the driver.

Counts that no model has been learned from yet, kept beside the checkpoint so that a crash loses none.

A file holds the counts of one micro-batch; a micro-batch that is repeated replaces its own. Files of many micro-batches
are made one from time to time. What a model was learned from goes once the store has it: a note of what the store held
before tells, after a crash in between, whether it has.
"""

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.counts import Counts, count, counts_from_bytes, counts_to_bytes, merge
from foresail.models.forecaster import Forecaster, ForecasterState
from foresail.models.model import Model
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.events import EventBatch
from foresail.patterns.recognition.monitor import MonitorState
from foresail.pipeline.stream.bucket.findings import COUNTS, content_rows
from foresail.pipeline.stream.bucket.line_spec import LineSpec, compiled_like
from foresail.pipeline.stream.bucket.monitor import BucketMonitor

_patterns: dict[str, CompiledPattern] = {}
MOST_TABLES = 32


def counted_rows(spec: LineSpec, monitor: BucketMonitor, events: EventBatch, state: MonitorState) -> list[pa.Table]:
    """The counts of these events, a row for each chain of a plain pattern."""
    if monitor.forecaster is None or not len(events):
        return []
    before = state.parts[monitor.number_of(monitor.forecaster)]
    contents, names = [], []
    for number, model in enumerate(monitor.forecaster.models):
        if model.trees is not None:
            continue  # counts make a chain, which is not what serves
        pattern = _pattern(spec, model)
        symbols = SymbolTable(pattern, monitor.conditions).symbols(events.words)
        joined, times, first_of, known = _after_history(monitor.forecaster, number, before, symbols, events)
        counts = count(joined, times, first_of, pattern, model.header.max_order, known=known)
        contents.append(counts_to_bytes(counts))
        names.append(model.pattern)
    return [content_rows(COUNTS, contents, names)]


def _pattern(spec: LineSpec, model: Model) -> CompiledPattern:
    if model.version not in _patterns:
        if len(_patterns) >= MOST_TABLES:
            _patterns.clear()
        _patterns[model.version] = compiled_like(model, spec.types)
    return _patterns[model.version]


def _after_history(
    forecaster: Forecaster, number: int, before: ForecasterState, symbols: NDArray[np.int32], events: EventBatch
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The symbols of each track behind those that it had before, so that stretches across the cut are counted too."""
    first, end = forecaster.history_at[number], forecaster.history_at[number + 1]
    known = before.length[:, number].astype(np.int64)
    places = int(end - first)
    counts = np.diff(events.first_of)
    first_of = np.concatenate([[0], np.cumsum(known + counts)]).astype(np.int64)
    joined = np.empty(int(first_of[-1]), dtype=np.int32)
    times = np.empty(int(first_of[-1]), dtype=np.int64)
    new = np.arange(len(symbols)) + np.repeat(first_of[:-1] + known - events.first_of[:-1], counts)
    joined[new], times[new] = symbols, events.times
    kept = np.arange(places)[None, :] >= places - known[:, None]
    old = np.flatnonzero(np.isin(np.arange(len(joined)), new, invert=True))
    joined[old] = before.history[:, first:end][kept]
    times[old] = np.repeat(before.last_time, known)
    return joined, times, first_of, known


MOST_FILES = 64
_NAME = re.compile(r"(upto|batch)-(\d+)\.counts")
TAKEN = "taken.json"


class KeptCounts:
    """The counts of one pattern by micro-batch; `stored_events` is how many events the store's counts rest on."""

    def __init__(self, folder: Path, stored_events: float) -> None:
        self._folder = folder
        self._parts: dict[int, Counts] = {}
        folder.mkdir(parents=True, exist_ok=True)
        self._finish_taking(stored_events)
        numbers = sorted((int(found[2]), found[1], file) for file, found in self._files())
        joined = max((number for number, kind, _ in numbers if kind == "upto"), default=-1)
        for number, kind, file in numbers:
            if kind == "upto" or number > joined:
                self._parts[number] = counts_from_bytes(file.read_bytes())

    @property
    def events(self) -> float:
        """How many events were counted since a model was learned last."""
        return sum(part.events for part in self._parts.values())

    def add(self, batch: int, counts: list[Counts]) -> None:
        """Keep the counts of a micro-batch, in place of what it counted before it was repeated."""
        self._parts[batch] = merge(counts)
        self._write(f"batch-{batch}.counts", counts_to_bytes(self._parts[batch]))
        taken = (self._folder / TAKEN).exists()  # what is being learned from must stay apart from what came after
        if len(self._parts) > MOST_FILES and not taken:
            self._join(batch - 1)

    def take(self, stored_events: float) -> tuple[int, list[Counts]]:
        """All counts, to be learned from and put into the store; and the last micro-batch of them, for `forget`."""
        upto = max(self._parts)
        self._write(TAKEN, json.dumps({"upto": upto, "stored_events": stored_events}).encode())
        return upto, list(self._parts.values())

    def forget(self, upto: int) -> None:
        """Let go of what the store has."""
        self._parts = {batch: part for batch, part in self._parts.items() if batch > upto}
        for file, found in self._files():
            if int(found[2]) <= upto:
                file.unlink(missing_ok=True)
        (self._folder / TAKEN).unlink(missing_ok=True)

    def _join(self, upto: int) -> None:
        """Make one file of those of the micro-batches that can no longer be repeated."""
        done = [batch for batch in self._parts if batch <= upto]
        whole = merge([self._parts[batch] for batch in done])
        self._write(f"upto-{upto}.counts", counts_to_bytes(whole))
        self._parts = {upto: whole, **{batch: part for batch, part in self._parts.items() if batch > upto}}
        for file, found in self._files():
            if int(found[2]) <= upto and file.name != f"upto-{upto}.counts":
                file.unlink(missing_ok=True)

    def _finish_taking(self, stored_events: float) -> None:
        note = self._folder / TAKEN
        if note.exists():
            taken = json.loads(note.read_text(encoding="utf-8"))
            if taken["stored_events"] != stored_events:
                self.forget(int(taken["upto"]))
            note.unlink(missing_ok=True)

    def _files(self) -> list[tuple[Path, "re.Match[str]"]]:
        return [(file, found) for file in self._folder.iterdir() if (found := _NAME.fullmatch(file.name))]

    def _write(self, name: str, content: bytes) -> None:
        staged = self._folder / f".{name}"
        staged.write_bytes(content)
        staged.rename(self._folder / name)
