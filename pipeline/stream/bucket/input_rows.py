"""What comes into a bucket in a micro-batch: rows of several kinds in one table, for a query has one input."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from foresail.pipeline.stream.messages.packing import unpacked

EVENT, CONTROL, TICK, REJECTED_MESSAGE, LATE, AGAIN, PACKED, SAME_TIME = 0, 1, 2, 3, 4, 5, 6, 7
"""What a row is: an event, a control message, the wall clock, a rejected message to pass on, a late event to pass on,
an event of the past as it should have been, many events packed, a second event of an instant to pass on."""
NAV_STATUSES = 16


@dataclass(frozen=True, slots=True, eq=False)
class BucketInput:
    """The rows of a micro-batch by kind."""

    events: pd.DataFrame
    again: pd.DataFrame
    """Events of the past as they should have been: late ones, and those that are different for them."""
    control: pd.DataFrame
    """Control messages by their offsets."""
    rejected: list[str]
    late: list[str]
    """Late and repeated events that a step before this one has set aside, as they are emitted."""
    late_count: int
    """How many of them are late; the others are second events of an instant."""
    tick_us: int
    """The wall clock as the last tick tells it; 0 without any."""


def by_kind(rows: pd.DataFrame, prepare: Callable[[pd.DataFrame], pd.DataFrame] | None = None) -> BucketInput:
    """`rows` by kind; events as `prepare` makes them ready to be read."""
    kind = rows["kind"].to_numpy()
    make = prepare or (lambda some: some)
    late = rows.loc[(kind == LATE) | (kind == SAME_TIME), "payload"].tolist()
    return BucketInput(
        events=make(_events(rows, kind)),
        again=make(rows[kind == AGAIN]),
        control=rows[kind == CONTROL].sort_values("offset", kind="stable"),
        rejected=rows.loc[kind == REJECTED_MESSAGE, "payload"].tolist(),
        late=late,
        late_count=int((kind == LATE).sum()),
        tick_us=last_tick_us(rows),
    )


def _events(rows: pd.DataFrame, kind: "np.ndarray[Any, Any]") -> pd.DataFrame:
    """The events among `rows`: those that are rows of their own, and the packed ones."""
    single: pd.DataFrame = rows[kind == EVENT].drop(columns="packed", errors="ignore")
    packed = kind == PACKED
    if not packed.any():
        return single
    many = unpacked(rows.loc[packed, "packed"].tolist())
    return pd.concat([single, many], ignore_index=True) if len(single) else many


def unpacked_among(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` (with a `time`) with packed events as rows of their own."""
    packed = (rows["kind"] == PACKED).to_numpy()
    if not packed.any():
        return rows
    events = unpacked(rows.loc[packed, "packed"].tolist())
    time = pd.Series(events["time_us"].to_numpy().view("datetime64[us]")).astype(rows["time"].dtype)
    events = events.assign(bucket=rows["bucket"].iloc[0], kind=EVENT, time=time)
    return pd.concat([rows[~packed], events.reindex(columns=rows.columns)], ignore_index=True)


def with_status(rows: pd.DataFrame) -> pd.DataFrame:
    """`rows` with what `foresail.pipeline.stages.derive.status` is: the engine, or the navigational status as text."""
    if not {"engine", "nav_status"} <= set(rows.columns):  # where nothing is derived, nobody asks since when
        return rows.assign(status=pd.Series(None, index=rows.index, dtype=object))
    engine, number = rows["engine"].to_numpy(dtype=object), rows["nav_status"].to_numpy(dtype=np.float64)
    texts = np.array([*map(str, range(NAV_STATUSES)), None], dtype=object)
    spelled = texts[np.where(np.isnan(number), NAV_STATUSES, number).astype(np.int64)]
    return rows.assign(status=pd.Series(np.where(pd.isna(engine), spelled, engine), index=rows.index, dtype=object))


def last_tick_us(rows: pd.DataFrame) -> int:
    """The wall clock as the ticks among `rows` tell it; 0 without any."""
    ticks = rows.loc[(rows["kind"] == TICK).to_numpy(), "arrived_us"]
    return int(ticks.max()) if len(ticks) else 0
