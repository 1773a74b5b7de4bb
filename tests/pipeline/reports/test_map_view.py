"""The data of the map and its legend."""

from foresail.pipeline.reports.map_view import (
    MapLayer,
    MapView,
    Mark,
    MarkGroup,
    Shape,
    TrackLine,
    bounds,
    map_data,
    map_markup,
)
from foresail.pipeline.reports.plots import SHAPES, sign_of

MARK = Mark(2.0, 51.0, 100.4, 160.0, ("<b>",), "match-1")
VIEW = MapView(
    (MapLayer("ports", (Shape("point", (((1.0, 50.0),),), "Brest"),)),),
    (TrackLine("t1", (((0.0, 50.0, 0.0), (1.123456789, 50.5, 60.0)),), "ALPHA"),),
    (MarkGroup("port_entry", "Port entry", sign_of(0), (MARK,), 7),),
    ("6 are left out.",),
)


def test_the_bounds_hold_tracks_and_marks_but_not_far_layers() -> None:
    west, south, east, north = bounds(VIEW)
    assert (west < 0, 2 < east < 3) == (True, True)
    assert (south < 50, 51 < north < 52) == (True, True)


def test_places_are_rounded_to_a_metre_and_times_to_a_second() -> None:
    data = map_data(VIEW)
    assert data["tracks"] == [{"name": "ALPHA", "lines": ["t1"], "parts": [[0.0, 50.0, 0, 1.12346, 50.5, 60]]}]
    (group,) = data["groups"]
    assert group["marks"] == [
        {"lon": 2.0, "lat": 51.0, "time": 100, "until": 160, "lines": ["<b>"], "ref": "match-1"}
        | {"track": "", "weight": None}
    ]


def test_the_legend_switches_each_part_and_says_what_is_left_out() -> None:
    made = map_markup(VIEW, "map-data")
    for key in ("port_entry", "layer:ports", "tracks"):
        assert f'data-toggle="{key}"' in made
    assert '<span class="n">7</span>' in made
    assert "6 are left out." in made


def test_without_positions_there_is_a_sentence_in_place_of_a_map() -> None:
    made = map_markup(MapView((), (), (MarkGroup("a", "A", sign_of(0), (), 3),)), "map-data")
    assert "no map" in made
    assert "canvas" not in made


def test_sixteen_patterns_have_sixteen_signs() -> None:
    signs = {(sign.hue, sign.shape) for sign in map(sign_of, range(16))}
    assert len(signs) == 16
    assert {shape for _, shape in signs} == set(SHAPES)
