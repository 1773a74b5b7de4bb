"""The figures of the quality report from arrays: counted by each worker for its tracks, and put together at the end."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from foresail.pipeline.quality.measure import (
    ATTRIBUTES,
    CELLS_ACROSS,
    GAP_HOURS,
    INTERVAL_EDGES_S,
    LONGEST_GAPS_SHOWN,
    QUANTILES,
    TRACK_SIZE_EDGES,
    Measures,
)

MOST_VALUES = 100_000
"""More different intervals than this are kept by their ranks, which is finer than any quantile shown."""
Weighted = tuple[NDArray[np.float64], NDArray[np.int64]]
"""Different values, sorted, and how often each is there."""


@dataclass(slots=True, eq=False)
class EventFigures:
    """What the events of some whole tracks are like."""

    rows: int = 0
    sizes: NDArray[np.int64] = field(default_factory=lambda: np.zeros(0, np.int64))
    times: tuple[int, int] | None = None
    box: list[float | None] = field(default_factory=lambda: [None] * 4)
    known: Counter[str] = field(default_factory=Counter)
    intervals: Weighted = field(default_factory=lambda: (np.zeros(0), np.zeros(0, np.int64)))
    interval_sum_s: float = 0.0
    gaps: Counter[str] = field(default_factory=Counter)
    longest: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def of(cls, events: pa.Table) -> "EventFigures":
        """The figures of events that have derived attributes and hold whole tracks."""
        figures = cls(rows=events.num_rows)
        if not events.num_rows:
            return figures
        figures.sizes = pc.value_counts(events.column("track")).field("counts").to_numpy()
        span = pc.min_max(events.column("time").cast(pa.int64())).as_py()
        figures.times = (span["min"], span["max"])
        lon, lat = (pc.min_max(events.column(name)).as_py() for name in ("lon", "lat"))
        figures.box = [lon["min"], lat["min"], lon["max"], lat["max"]]
        figures.known.update({name: events.num_rows - events.column(name).null_count for name in ATTRIBUTES})
        gap_s = events.column("gap_s").drop_null().to_numpy()
        figures.intervals = _thinned(_counted(gap_s))
        figures.interval_sum_s = float(gap_s.sum())
        figures.gaps.update({f"over_{hours}_h": int((gap_s >= hours * 3600).sum()) for hours in GAP_HOURS})
        figures.gaps["position_jumps"] = int(pc.sum(events.column("position_jump")).as_py() or 0)
        figures.longest = _longest(events)
        return figures

    def merge(self, other: "EventFigures") -> None:
        """Add the figures of further tracks."""
        self.rows += other.rows
        self.sizes = np.concatenate([self.sizes, other.sizes])
        spans = [times for times in (self.times, other.times) if times]
        self.times = (min(low for low, _ in spans), max(high for _, high in spans)) if spans else None
        self.box = merged_box(self.box, other.box)
        self.known.update(other.known)
        self.intervals = _thinned(_joined(self.intervals, other.intervals))
        self.interval_sum_s += other.interval_sum_s
        self.gaps.update(other.gaps)
        self.longest = _first_gaps([*self.longest, *other.longest])

    def measures(self, cells: Counter[tuple[int, int]]) -> Measures:
        """The figures as the report has them; `cells` counts the positions of the grid that `grid_of` lays."""
        extent = extent_of(self.rows, len(self.sizes), self.times, self.box, self.known)
        sizes = _counted(self.sizes.astype(np.float64))
        per_track = _distribution(sizes, float(self.sizes.sum()), TRACK_SIZE_EDGES, int)
        intervals = _distribution(self.intervals, self.interval_sum_s, INTERVAL_EDGES_S, float)
        names = [*(f"over_{hours}_h" for hours in GAP_HOURS), "position_jumps"]
        gaps = {**{name: self.gaps[name] for name in names}, "longest": self.longest}
        return Measures(extent, per_track, intervals, gaps, _coverage(self.box, cells))


def merged_box(one: list[float | None], other: list[float | None]) -> list[float | None]:
    """The box around two boxes: west, south, east, north."""
    pairs = zip((min, min, max, max), one, other, strict=True)
    return [extreme([value for value in pair if value is not None], default=None) for extreme, *pair in pairs]


def extent_of(
    rows: int, tracks: int, times: tuple[int, int] | None, box: list[float | None], known: Counter[str]
) -> dict[str, Any]:
    """Rows, tracks, span, box and share of nulls, as the report has them."""
    first, last = (_as_text(time) for time in times) if times else (None, None)
    shares = {name: round(known[name] / rows, 4) if rows else 0.0 for name in ATTRIBUTES}
    return {"rows": rows, "tracks": tracks, "first": first, "last": last, "box": box, "known": shares}


def _as_text(micros: int) -> str:
    """An instant as Spark writes it: years of more than four digits have a sign."""
    text = str(np.datetime64(micros, "us")).replace("T", " ").removesuffix(".000000")
    signed = f"+{text}" if text.index("-", 1) > 4 and not text.startswith("-") else text
    return signed.rstrip("0") if "." in signed else signed


def _counted(values: NDArray[np.float64]) -> Weighted:
    different, counts = np.unique(values, return_counts=True)
    return different, counts.astype(np.int64)


def _joined(one: Weighted, other: Weighted) -> Weighted:
    values, which = np.unique(np.concatenate([one[0], other[0]]), return_inverse=True)
    counts = np.bincount(which, np.concatenate([one[1], other[1]]), len(values)).astype(np.int64)
    return values, counts


def _thinned(weighted: Weighted) -> Weighted:
    """At most so many values: each of those left stands for its neighbours too. Those at edges stay what they are."""
    values, counts = weighted
    if len(values) <= MOST_VALUES:
        return weighted
    ranks = np.cumsum(counts)
    group = (ranks - 1) * MOST_VALUES // int(ranks[-1]) + np.searchsorted(INTERVAL_EDGES_S, values) * MOST_VALUES
    last = np.concatenate([np.flatnonzero(np.diff(group)), [len(values) - 1]])
    return values[last], np.diff(np.concatenate([[0], ranks[last]]))


def _distribution(
    weighted: Weighted, total: float, edges: tuple[int, ...], kind: type[int] | type[float]
) -> dict[str, Any]:
    """Quantiles, and how many values lie below each edge and above the one before."""
    values, counts = weighted
    ranks = np.cumsum(counts)
    count = int(ranks[-1]) if len(ranks) else 0
    places = [int(np.searchsorted(ranks, max(1, np.ceil(q * count - 1e-9)))) for q in QUANTILES] if count else []
    below = np.searchsorted(values, edges, side="right")
    reached = np.concatenate([[0], ranks])[below] if count else np.zeros(len(edges), np.int64)
    return {
        "count": count,
        "mean": total / count if count else None,
        "max": kind(values[-1]) if count else None,
        "quantiles": {str(q): kind(values[place]) for q, place in zip(QUANTILES, places, strict=False)},
        "edges": list(edges),
        "buckets": np.diff(np.concatenate([[0], reached, [count]])).astype(int).tolist(),
    }


def _longest(events: pa.Table) -> list[dict[str, Any]]:
    rows = np.flatnonzero(pc.fill_null(events.column("gap_s"), 0.0).to_numpy() >= GAP_HOURS[0] * 3600)
    found = events.select(["track", "gap_s", "time"]).take(pa.array(rows))
    order = pc.sort_indices(found, [("gap_s", "descending"), ("track", "ascending")])[:LONGEST_GAPS_SHOWN]
    micros = found.column("time").cast(pa.int64()).take(order).to_pylist()
    first = found.select(["track", "gap_s"]).take(order).to_pylist()
    return [{**row, "ended": _as_text(time)} for row, time in zip(first, micros, strict=True)]


def _first_gaps(gaps: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return sorted(gaps, key=lambda gap: (-gap["gap_s"], gap["track"].encode()))[:LONGEST_GAPS_SHOWN]


def grid_of(box: list[float | None]) -> tuple[float, float, float] | None:
    """West, south and the side of a cell of the grid over the box; cells are as wide as high, in degrees."""
    west, south, east, north = box
    if west is None or south is None or east is None or north is None:
        return None
    return west, south, max((east - west) / CELLS_ACROSS, (north - south) / CELLS_ACROSS, 1e-4)


def cells_of(lon: pa.ChunkedArray, lat: pa.ChunkedArray, box: list[float | None]) -> Counter[tuple[int, int]]:
    """How many positions lie in each cell of the grid over the box."""
    grid = grid_of(box)
    if grid is None:
        return Counter()
    west, south, cell_deg = grid
    x, y = (column.fill_null(np.nan).to_numpy() for column in (lon, lat))
    there = ~(np.isnan(x) | np.isnan(y))
    column = np.floor((x[there] - west) / cell_deg).astype(np.int64)
    row = np.floor((y[there] - south) / cell_deg).astype(np.int64)
    width = CELLS_ACROSS + 2
    keys, counts = np.unique(row * width + column, return_counts=True)
    return Counter({(int(key % width), int(key // width)): int(n) for key, n in zip(keys, counts, strict=True)})


def _coverage(box: list[float | None], cells: Counter[tuple[int, int]]) -> dict[str, Any]:
    grid = grid_of(box)
    if grid is None:
        return {"cell_deg": None, "cells": []}
    west, south, cell_deg = grid
    return {
        "cell_deg": cell_deg,
        "west": west,
        "south": south,
        "cells": sorted([column, row, count] for (column, row), count in cells.items()),
    }
