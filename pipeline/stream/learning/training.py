"""Learning on the way, in the worker: what passes is counted for every model, and the counts are sent to the driver."""

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.models.counts import count, counts_to_bytes
from foresail.models.forecaster import Forecaster, ForecasterState
from foresail.models.model import Model
from foresail.models.symbols import SymbolTable
from foresail.patterns.compiler import CompiledPattern
from foresail.pipeline.stream.bucket.findings import COUNTS, content_rows
from foresail.pipeline.stream.bucket.line import Line, LineState, Seen
from foresail.pipeline.stream.bucket.line_spec import LineSpec, compiled_like

_patterns: dict[str, CompiledPattern] = {}
MOST_TABLES = 32


def counted_rows(spec: LineSpec, line: Line, seen: Seen, state: LineState) -> list[pa.Table]:
    """The counts of these events, a row for each model of a plain pattern."""
    if line.forecaster is None or not len(seen.times):
        return []
    before = state.parts[line.part_number(line.forecaster)]
    contents, names = [], []
    for number, model in enumerate(line.forecaster.models):
        pattern = _pattern(spec, model)
        symbols = SymbolTable(pattern, line.conditions).symbols(seen.words)
        joined, times, first_of, known = _after_history(line.forecaster, number, before, symbols, seen)
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
    forecaster: Forecaster, number: int, before: ForecasterState, symbols: NDArray[np.int32], seen: Seen
) -> tuple[NDArray[np.int32], NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """The symbols of each track behind those that it had before, so that stretches across the cut are counted too."""
    first, end = forecaster.history_at[number], forecaster.history_at[number + 1]
    known = before.length[:, number].astype(np.int64)
    places = int(end - first)
    counts = np.diff(seen.first_of)
    first_of = np.concatenate([[0], np.cumsum(known + counts)]).astype(np.int64)
    joined = np.empty(int(first_of[-1]), dtype=np.int32)
    times = np.empty(int(first_of[-1]), dtype=np.int64)
    new = np.arange(len(symbols)) + np.repeat(first_of[:-1] + known - seen.first_of[:-1], counts)
    joined[new], times[new] = symbols, seen.times
    kept = np.arange(places)[None, :] >= places - known[:, None]
    old = np.flatnonzero(np.isin(np.arange(len(joined)), new, invert=True))
    joined[old] = before.history[:, first:end][kept]
    times[old] = np.repeat(before.last_time, known)
    return joined, times, first_of, known
