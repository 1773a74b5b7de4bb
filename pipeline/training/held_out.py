"""Tracks that are never counted, kept with the model store: settings are searched and models are judged on them.

One file per interval holds their events, with the attributes that patterns read, and which are near which feature, as
Arrow tables. Learning and judging read it without Spark.

Which tracks are held out: never counted, so that models can be judged on them.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import Column
from pyspark.sql import functions as F  # noqa: N812

from foresail.arrow_bytes import table_from_bytes, table_to_bytes
from foresail.models.store import Interval, Storage
from foresail.models.store.intervals import interval_named
from foresail.patterns.conditions import AttributeType
from foresail.pipeline.conditions.arrow import array_column
from foresail.pipeline.training.sample import NearTable, Sample, Share

FOLDER = "held_out"
KEYS = ("track", "time_us", "offset")


@dataclass(frozen=True, slots=True, eq=False)
class HeldOut:
    """Events of the held-out tracks, the layers of their near features, and the types of all attributes."""

    sample: Sample
    layers: tuple[str, ...]
    types: Mapping[str, AttributeType]
    intervals: tuple[Interval, ...] = ()

    @property
    def data(self) -> str:
        """Which data it is, as scores name it."""
        return f"{self.intervals[0]}" if len(self.intervals) == 1 else f"{self.intervals[0]}..{self.intervals[-1]}"


def write_held_out(storage: Storage, interval: Interval, held: HeldOut) -> None:
    """Keep the sample of one interval, in place of the one it had."""
    sample = held.sample
    names = list(sample.columns)
    events = sample.table.select([*KEYS, *(f"attribute_{n}" for n in range(len(names)))])
    facts = {
        "attributes": names,
        "layers": list(held.layers),
        "types": {name: kind.name for name, kind in held.types.items()},
        "features": [list(near.names) for near in sample.near],
    }
    parts = [events.replace_schema_metadata({"held_out": json.dumps(facts)})]
    for near in sample.near:
        columns = {"event": near.event, "feature": near.feature, "distance_m": near.distance_m}
        parts.append(pa.table({name: pa.array(values) for name, values in columns.items()}))
    storage.write(_path(interval), b"".join(_framed(part) for part in parts))


def read_held_out(storage: Storage, until_us: int | None = None, newest: int = 1) -> HeldOut | None:
    """The newest intervals that end by `until_us`, as one sample; None when there is none."""
    found = [interval_named(name.removesuffix(".arrows")) for name in storage.names(FOLDER)]
    held = sorted(i for i in found if i is not None and (until_us is None or i.end_us <= until_us))[-newest:]
    parts = [_read(storage.read(_path(interval))) for interval in held]
    return _joined(parts, tuple(held)) if parts else None


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    events: pa.Table
    near: list[pa.Table]
    facts: Mapping[str, Any]


def _framed(table: pa.Table) -> bytes:
    """A table with its length before it."""
    content = table_to_bytes(table)
    return len(content).to_bytes(8, "little") + content


def _read(content: bytes) -> _Part:
    tables, at = [], 0
    while at < len(content):
        size = int.from_bytes(content[at : at + 8], "little")
        tables.append(table_from_bytes(content[at + 8 : at + 8 + size]))
        at += 8 + size
    facts = json.loads(tables[0].schema.metadata[b"held_out"])
    return _Part(tables[0], tables[1:], facts)


def _joined(parts: Sequence[_Part], intervals: tuple[Interval, ...]) -> HeldOut:
    """Several days as one sample; only what the newest day has of attributes and layers."""
    facts = parts[-1].facts
    same = [
        part
        for part in parts
        if part.facts["attributes"] == facts["attributes"] and part.facts["layers"] == facts["layers"]
    ]
    events = pa.concat_tables([part.events.replace_schema_metadata(None) for part in same])
    order = pa.compute.sort_indices(events, [(key, "ascending") for key in KEYS]).to_numpy()
    events = events.take(pa.array(order)).combine_chunks()
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order))
    first_rows = np.concatenate([[0], np.cumsum([len(part.events) for part in same])])
    near = tuple(_near(n, same, place, first_rows) for n in range(len(facts["layers"])))
    track = events.column("track").combine_chunks()
    codes = track.dictionary_encode().indices.to_numpy()
    first = np.flatnonzero(np.concatenate([[True], codes[1:] != codes[:-1]])) if len(codes) else np.empty(0, np.int64)
    columns = {name: array_column(events.column(f"attribute_{n}"), name) for n, name in enumerate(facts["attributes"])}
    sample = Sample(
        Share(0, len(codes), len(first)),
        events,
        columns,
        track.take(pa.array(first)),
        events.column("time_us").to_numpy(),
        np.append(first, len(codes)).astype(np.int64),
        near,
    )
    types = {name: AttributeType[kind] for name, kind in facts["types"].items()}
    return HeldOut(sample, tuple(facts["layers"]), types, intervals[-len(same) :])


def _near(layer: int, parts: Sequence[_Part], place: np.ndarray, first_rows: np.ndarray) -> NearTable:
    names: dict[str, int] = {}
    rows = []
    for part, begin in zip(parts, first_rows, strict=False):
        own = part.facts["features"][layer]
        number = np.array([names.setdefault(name, len(names)) for name in own], dtype=np.int64)
        table = part.near[layer]
        event = place[table.column("event").to_numpy() + begin]
        rows.append((event, number[table.column("feature").to_numpy()], table.column("distance_m").to_numpy()))
    event, feature, metres = (np.concatenate(column) for column in zip(*rows, strict=True))
    order = np.argsort(event, kind="stable")
    return NearTable(event[order], feature[order], metres[order], tuple(names))


def _path(interval: Interval) -> str:
    return f"{FOLDER}/{interval}.arrows"


PARTS = 1000


def is_held_out(share: float) -> Column:
    """Whether a track is held out: by its name, so that it is so every day."""
    return F.pmod(F.xxhash64(F.lit("held out"), F.col("track")), F.lit(PARTS)) < F.lit(round(share * PARTS))
