"""Conditions that a running line takes up later are evaluated in the worker, those of an event's time among them."""

import numpy as np
import pandas as pd

from foresail.patterns.conditions import parse_condition
from foresail.patterns.conditions.typing import AttributeType
from foresail.pipeline.stream.bucket.words import words_of

TYPES = dict.fromkeys(("speed_kn", "lon", "lat"), AttributeType.NUMBER)


def test_conditions_that_did_not_cross_are_added_to_those_that_did() -> None:
    crossed = [parse_condition("speed_kn < 1")]
    texts = ["hour(time) >= 22", 'time > "2024-05-01T22:30:00Z"', "is_night(time, lon, lat)", "speed_kn > 5"]
    micros = pd.to_datetime(["2024-05-01T21:00", "2024-05-01T22:00", "2024-05-01T23:00"]).astype("datetime64[us]")
    rows = pd.DataFrame(
        {
            "time_us": micros.astype(np.int64),
            "word_0": [1, 0, 0],
            "speed_kn": [0.5, 6.0, None],
            "lon": [0.0, 0.0, 180.0],
            "lat": 0.0,
        }
    )
    found = words_of(rows, crossed, [*crossed, *map(parse_condition, texts)], TYPES)
    assert [f"{word:05b}" for word in found[:, 0]] == ["01001", "11010", "00110"]
