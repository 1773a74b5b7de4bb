"""Messages before cleaning: the same positions as a careless feed gives them, with every fault that cleaning must find.

Cleaning them gives the events back: what is added here is repeated, delayed, misnamed or misplaced, never new.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from foresail.pipeline.simulator.geometry import Bools
from foresail.pipeline.simulator.scenario import Fault, Scenario, generator

SENTINELS = {"speed_kn": 102.3, "course_deg": 360.0, "heading_deg": 511.0, "turn_rate": -128.0, "nav_status": 15}
DUPLICATES, DELAYED = 0.012, 0.03
ADDED = {"position_unknown": 0.0003, "bad_identity": 0.002, "jump": 0.0005, "null_island": 0.0002}
"""Share of positions after which a faulty copy follows."""
BAD_MMSI = 111_111_111


@dataclass(frozen=True, slots=True)
class RawRows:
    """The messages of one track in the order of their arrival, and what is wrong with them."""

    batch: pa.RecordBatch
    faults: list[Fault]


def raw_rows(scenario: Scenario, number: int) -> RawRows:
    """The raw messages of one track."""
    random = generator(scenario.settings.seed, "raw", number)
    clean = scenario.rows(number)
    origin, fault = _with_copies(random, clean.num_rows)
    late = (random.random(len(origin)) < DELAYED) & (fault == "")
    arrival = np.argsort(
        np.arange(len(origin)) + np.where(late, random.uniform(1.5, 6.5, len(origin)), 0), kind="stable"
    )
    origin, fault, late = origin[arrival], fault[arrival], late[arrival]
    batch = clean.take(pa.array(origin))
    for column, value in SENTINELS.items():
        batch = _filled(batch, column, value, scenario.settings.domain)
    for name, change in _CHANGES.items():
        batch = change(batch, fault == name, scenario.settings.step_s)
    first = number * 2 * scenario.settings.steps
    batch = _set(batch, "offset", pa.array(first + np.arange(len(origin)), type=pa.int64()))
    return RawRows(batch, _listed(batch, fault, late, scenario))


def _with_copies(random: np.random.Generator, count: int) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
    """For each message the position it shows and its fault: every position once, some again with a fault."""
    origins, faults = [np.arange(count)], [np.full(count, "", dtype="<U20")]
    for name, share in {"duplicate": DUPLICATES, **ADDED}.items():
        hit = np.flatnonzero(random.random(count) < share)
        origins.append(hit)
        faults.append(np.full(len(hit), name, dtype="<U20"))
    origin, fault = np.concatenate(origins), np.concatenate(faults)
    order = np.argsort(origin, kind="stable")
    return origin[order], fault[order]


def _filled(batch: pa.RecordBatch, column: str, value: float, domain: str) -> pa.RecordBatch:
    """Unknown values as the numbers that AIS sends for them."""
    if domain != "maritime":
        return batch
    array = batch.column(column)
    return _set(batch, column, array.fill_null(pa.scalar(value, type=array.type)))


def _move(batch: pa.RecordBatch, rows: Bools, lon: float | None, lat: float | None, step_s: float) -> pa.RecordBatch:
    """Those rows elsewhere, a third of a step later than the position they copy."""
    x = batch.column("lon").to_numpy().copy()
    y = batch.column("lat").to_numpy().copy()
    time = batch.column("time").cast(pa.int64()).to_numpy().copy()
    x[rows] = x[rows] + 2.5 if lon is None else lon
    y[rows] = y[rows] + 1.5 if lat is None else lat
    time[rows] += int(max(step_s // 3, 0) * 1e6)
    batch = _set(batch, "lon", pa.array(x))
    batch = _set(batch, "lat", pa.array(y))
    return _set(batch, "time", pa.array(time).cast(batch.column("time").type))


def _unnamed(batch: pa.RecordBatch, rows: Bools, step_s: float) -> pa.RecordBatch:  # noqa: ARG001 - one of the changes
    """Those rows under an identity that no vessel has."""
    if batch.column("mmsi").null_count:
        track = np.where(rows, "", batch.column("track").to_numpy(zero_copy_only=False))
        return _set(batch, "track", pa.array(track.tolist(), type=pa.string()))
    mmsi = np.where(rows, BAD_MMSI, batch.column("mmsi").to_numpy())
    track = np.where(rows, str(BAD_MMSI), batch.column("track").to_numpy(zero_copy_only=False))
    batch = _set(batch, "mmsi", pa.array(mmsi))
    return _set(batch, "track", pa.array(track.tolist(), type=pa.string()))


_CHANGES: dict[str, Callable[[pa.RecordBatch, Bools, float], pa.RecordBatch]] = {
    "position_unknown": lambda batch, rows, step_s: _move(batch, rows, 181.0, 91.0, step_s),
    "bad_identity": _unnamed,
    "jump": lambda batch, rows, step_s: _move(batch, rows, None, None, step_s),
    "null_island": lambda batch, rows, step_s: _move(batch, rows, 0.0, 0.0, step_s),
}


def _set(batch: pa.RecordBatch, column: str, values: pa.Array) -> pa.RecordBatch:
    return batch.set_column(batch.schema.get_field_index(column), batch.schema.field(column), values)


def _listed(batch: pa.RecordBatch, fault: NDArray[np.str_], late: Bools, scenario: Scenario) -> list[Fault]:
    """One line of the fault table for each kind of fault."""
    began = scenario.settings.start.timestamp()
    seconds = batch.column("time").cast(pa.int64()).to_numpy() / 1e6 - began
    kinds = {name: fault == name for name in ("duplicate", *ADDED)} | {"out_of_order": late}
    return [
        Fault(name, float(seconds[rows].min()), float(seconds[rows].max()), int(rows.sum()), table="raw")
        for name, rows in kinds.items()
        if rows.any()
    ]
