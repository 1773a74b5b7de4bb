"""What registers held when a match was complete, as the column `registers` of its row: name to place and time."""

import json
from collections.abc import Sequence

import pyarrow as pa

from foresail.patterns.compiler import CompiledPattern
from foresail.patterns.recognition.matches import Matches

REGISTERS = pa.map_(pa.string(), pa.struct([("index", pa.int64()), ("time", pa.timestamp("us", tz="UTC"))]))
TEXT_DDL = "map<string, struct<index: long, time_us: long>>"
"""What the texts say, for Spark to read."""


def register_maps(matches: Matches, patterns: Sequence[CompiledPattern]) -> pa.Array:
    """Per match the events that its registers hold; null for patterns without any."""
    held = _held(matches, patterns)
    if held is None:
        return pa.nulls(len(matches), REGISTERS)
    rows = [
        None if some is None else [(name, {"index": index, "time": time}) for name, index, time in some]
        for some in held
    ]
    return pa.array(rows, REGISTERS)


def register_texts(matches: Matches, patterns: Sequence[CompiledPattern]) -> pa.Array:
    """The same as texts, which go through every crossing."""
    held = _held(matches, patterns)
    if held is None:
        return pa.nulls(len(matches), pa.string())
    texts = [
        None if some is None else json.dumps({name: {"index": index, "time_us": time} for name, index, time in some})
        for some in held
    ]
    return pa.array(texts, pa.string())


def _held(matches: Matches, patterns: Sequence[CompiledPattern]) -> list[list[tuple[str, int, int]] | None] | None:
    """Per match the registers that hold an event, with its place in the track and its time; None without registers."""
    names = [pattern.memory.registers if pattern.memory else () for pattern in patterns]
    if not any(names) or not matches.register_index.shape[1]:
        return None
    rows = zip(matches.pattern.tolist(), matches.register_index.tolist(), matches.register_time.tolist(), strict=True)
    return [
        [(name, index, time) for name, index, time in zip(names[p], places, times, strict=False) if index]
        if names[p]
        else None
        for p, places, times in rows
    ]
