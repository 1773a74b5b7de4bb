"""From rows of matches and forecasts to the signs that alerts are made of, and the facts behind each."""

from collections.abc import Callable, Iterator, Sequence
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
    dwell = np.array([rules[name].min_dwell_us for name in frame["pattern"]])
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
    by_name = {pattern.name: pattern for pattern in patterns}
    place = {text_of(condition): n for n, condition in enumerate(conditions)}

    def facts(sign: Sign) -> dict[str, Any]:
        event = rows.iloc[sign.row]
        arrived = int(event["arrived_us"])
        known: dict[str, Any] = {"arrived": instant(arrived)} if arrived else {}
        if "lon" in rows.columns and pd.notna(event["lon"]):
            known["position"] = {"lon": float(event["lon"]), "lat": float(event["lat"])}
        pattern = by_name.get(sign.pattern)
        if pattern is not None:
            known |= _conditions(pattern, place, event, words[sign.row])
        return known

    return facts


def _conditions(
    pattern: CompiledPattern, place: dict[str, int], event: "pd.Series[Any]", words: NDArray[np.int64]
) -> dict[str, Any]:
    told, names = [], []
    for name, condition in zip(pattern.condition_names, pattern.conditions, strict=True):
        bit = place.get(text_of(condition))
        if bit is None:  # of a family: it holds for some features and not for others
            continue
        holds = bool(int(words[bit // 64]) >> (bit % 64) & 1)
        told.append({"name": name, "text": text_of(condition), "holds": holds})
        names += [attribute.name for attribute in attributes_of(condition)]
    values = {name: _plain(event[name]) for name in dict.fromkeys(names) if name in event.index}
    return {"conditions": told, "values": values}


def _plain(value: Any) -> Any:
    if pd.isna(value):
        return None
    return value.item() if isinstance(value, np.generic) else value
