"""From rows of matches and forecasts to the signs that alerts are made of, and the facts behind each."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute
from numpy.typing import NDArray

from patterns.compiler import CompiledPattern
from patterns.conditions.inspection import attributes_of
from patterns.conditions.syntax import Condition
from patterns.conditions.text import text_of
from pipeline.stream.alert_book import AlertRule, Sign, instant
from pipeline.stream.findings import MATCH


def signs_of(rows: pa.Table, events: NDArray[np.int64] | None, rules: dict[str, AlertRule]) -> Iterator[Sign]:
    """The rows that may change an alert; of the updates of one episode in a batch only the first that counts and the
    last, because those between change nothing."""
    kept = np.flatnonzero(pa.compute.is_in(rows.column("pattern"), pa.array(list(rules), pa.string())).to_numpy())
    if not len(kept):
        return
    frame = rows.take(pa.array(kept)).select(_COLUMNS).to_pandas()
    frame["row"] = -1 if events is None else events[kept]
    is_match = frame["kind"] == MATCH
    dwell = frame["pattern"].map({name: rule.min_dwell_us for name, rule in rules.items()}).to_numpy()
    young = is_match & ((frame["time_us"] - frame["start_time_us"].fillna(frame["time_us"])) < dwell)
    ends = frame["status"].isin(["closed", "timed_out"])
    frame = frame[ends | ~young]
    same = ["pattern", "instance", "track", "id_time_us"]
    repeated = frame[frame["status"].isin(["updated", "opened"])]
    between = repeated.duplicated(same, keep="first") & repeated.duplicated(same, keep="last")
    for row in frame.drop(index=repeated.index[between]).sort_values("time_us", kind="stable").itertuples():
        yield _sign(row)


_COLUMNS = [
    "kind",
    "pattern",
    "instance",
    "track",
    "time_us",
    "start_time_us",
    "id_time_us",
    "status",
    "probability",
    "positive",
    "model_version",
]


def _sign(row: Any) -> Sign:
    instance = None if pd.isna(row.instance) else row.instance
    if row.kind == MATCH:
        return Sign(
            row.pattern, instance, row.track, int(row.time_us), int(row.start_time_us), row.status, row=int(row.row)
        )
    status = "positive" if row.positive else "negative"
    time = int(row.time_us)
    return Sign(
        row.pattern, instance, row.track, time, time, status, "forecast", int(row.row),
        float(row.probability), row.model_version,
    )  # fmt: skip


def facts_of(
    rows: pd.DataFrame,
    words: NDArray[np.int64],
    patterns: Sequence[CompiledPattern],
    conditions: Sequence[Condition],
) -> Callable[[Sign], dict[str, Any]]:
    """What is known of the event behind a sign: position, the pattern's conditions, and the values they read."""
    columns = {
        name: rows[name].to_numpy() for name in rows.columns if not name.startswith(("word_", "family_", "near_"))
    }
    place = {text_of(condition): n for n, condition in enumerate(conditions)}
    asked: dict[str, _Asked] = {pattern.name: _Asked.of(pattern, place) for pattern in patterns}

    def facts(sign: Sign) -> dict[str, Any]:
        row = sign.row
        arrived = int(columns["arrived_us"][row])
        known: dict[str, Any] = {"arrived": instant(arrived)} if arrived else {}
        if "lon" in columns and not np.isnan(columns["lon"][row]):
            known["position"] = {"lon": float(columns["lon"][row]), "lat": float(columns["lat"][row])}
        pattern = asked.get(sign.pattern)
        if pattern is not None:
            known["conditions"] = [
                {"name": name, "text": text, "holds": bool(int(words[row, bit // 64]) >> (bit % 64) & 1)}
                for name, text, bit in pattern.conditions
            ]
            known["values"] = {name: _plain(columns[name][row]) for name in pattern.attributes if name in columns}
        return known

    return facts


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is told of an event for one pattern: its conditions with their bits, and the attributes they read."""

    conditions: tuple[tuple[str, str, int], ...]
    attributes: tuple[str, ...]

    @classmethod
    def of(cls, pattern: CompiledPattern, place: dict[str, int]) -> "_Asked":
        """Conditions of a family are left out: they hold for some features and not for others."""
        named = [(name, text_of(c), c) for name, c in zip(pattern.condition_names, pattern.conditions, strict=True)]
        mine = [(name, text, place[text], c) for name, text, c in named if text in place]
        read = dict.fromkeys(a.name for *_, condition in mine for a in attributes_of(condition))
        return cls(tuple((name, text, bit) for name, text, bit, _ in mine), tuple(read))


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
