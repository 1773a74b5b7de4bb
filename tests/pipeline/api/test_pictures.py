from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import foresail as fs

EVENTS = pd.DataFrame(
    {
        "track": ["a"] * 6 + ["b"] * 4,
        "time": pd.date_range("2024-01-01", periods=10, freq="10min", tz="UTC"),
        "speed_kn": [5, 0.1, 0.1, 0.1, 6, 7, 8, 0.1, 0.1, 0.2],
        "lon": np.linspace(10, 11, 10),
        "lat": np.linspace(55, 56, 10),
    }
)
STOP = fs.pattern("stop", "slow{3,}", where={"slow": "speed_kn < 1"})


def test_a_map_shows_the_matches_and_keeps_itself(tmp_path: Path) -> None:
    shown = fs.map(fs.find(EVENTS, STOP), EVENTS)
    assert shown._repr_html_().startswith("<iframe")
    page = shown.save(tmp_path / "map.html").read_text(encoding="utf-8")
    assert "2 matches on 2 tracks" in page
    assert '"key":"stop"' in page


def test_matches_without_places_get_those_of_their_events() -> None:
    placeless = fs.find(EVENTS.drop(columns=["lon", "lat"]), STOP)
    assert fs.map(placeless, EVENTS).html == fs.map(fs.find(EVENTS, STOP), EVENTS).html


def test_without_places_there_is_no_map() -> None:
    bare = EVENTS.drop(columns=["lon", "lat"])
    with pytest.raises(fs.InputError, match="no columns lon and lat"):
        fs.map(fs.find(bare, STOP), bare)


def test_no_matches_make_a_map_of_tracks() -> None:
    assert "0 matches on 2 tracks" in fs.map(fs.find(EVENTS, fs.pattern("p", "[speed_kn > 90]")), EVENTS).html
