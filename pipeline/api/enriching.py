"""`fs.enrich`: frames of positions with what layers say of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa

from foresail.geo.answers import answer_columns, stored
from foresail.geo.attributes import check_columns
from foresail.geo.errors import GeoError
from foresail.pipeline.errors import InputError
from foresail.pipeline.local.event_times import read_times
from foresail.pipeline.local.frames import Frame, is_spark, open_frame, whole
from foresail.pipeline.local.layers import layers_at_hand


def enrich(events: Any, layers: str | Path | Any, *, time: str = "time", time_unit: str | None = None) -> Any:
    """`events`, which have `lon` and `lat` or are a GeoDataFrame of points, with the columns of the layers.

    `layers` is a layers file. Each layer of the kind `port` gives `in_port`, `port_name` and `port_distance_m`.
    """
    at_hand = layers_at_hand(layers)
    if is_spark(events):
        from foresail.geo import enrich as enrich_in_spark  # noqa: PLC0415 - only where Spark is

        return enrich_in_spark(events, at_hand.layers)
    frame = open_frame(events)
    timed = any(layer.spec.holds_by_time for layer in at_hand.layers)
    columns = tuple("time" if name == time else name for name in frame.columns)
    try:
        check_columns(columns, [layer.spec for layer in at_hand.layers])
        lon, lat = (_numbers(frame, axis) for axis in ("lon", "lat"))
        moments = _moments(frame, time, time_unit) if timed else None
        added = answer_columns(stored(at_hand.layers), lon, lat, moments)
    except GeoError as error:
        raise InputError(str(error)) from error
    return frame.with_columns(added)


def _numbers(frame: Frame, name: str) -> Any:
    array = whole(frame.column(name))
    return np.array(array.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def _moments(frame: Frame, time: str, unit: str | None) -> Any:
    times = read_times(frame.column(time), time, unit)
    known = times.known
    return pd.Series(times.micros) if known is None else pd.Series(times.micros).where(pd.Series(known))
