"""What layers say of positions does not depend on what was asked before, nor on how many stand still."""

import numpy as np
import pandas as pd
import pyarrow as pa

from foresail.geo import Layer
from foresail.geo.answers import answer_columns, stored


def test_still_positions_are_answered_as_if_each_were_alone(layers: list[Layer]) -> None:
    dice = np.random.default_rng(3)
    lon, lat = dice.uniform(-181, 181, 300), dice.uniform(-91, 91, 300)
    lon[::50], lat[25::50] = np.nan, np.nan
    often = dice.integers(1, 6, 300)
    lon, lat = np.repeat(lon, often), np.repeat(lat, often)
    together = pa.table(answer_columns(stored(layers), lon, lat))
    alone = [pa.table(answer_columns(stored(layers), lon[i : i + 1], lat[i : i + 1])) for i in range(len(lon))]
    assert together.equals(pa.concat_tables(alone).combine_chunks())
    assert together.column("in_zone").null_count > 0


def test_a_layer_in_time_is_asked_of_every_still_position(weather: Layer) -> None:
    times = pd.Series(1_767_225_600_000_000 + 1_800_000_000 * np.arange(10))
    lon, lat = np.full(10, 0.5), np.full(10, 0.5)
    together = pa.table(answer_columns(stored([weather]), lon, lat, times))
    alone = [
        pa.table(answer_columns(stored([weather]), lon[:1], lat[:1], times[i : i + 1].reset_index(drop=True)))
        for i in range(10)
    ]
    assert together.equals(pa.concat_tables(alone).combine_chunks())
    assert together.column("weather_wind_kn").to_pylist() == [0, 0, 1, 1, 2, 2, 3, 3, None, None]
