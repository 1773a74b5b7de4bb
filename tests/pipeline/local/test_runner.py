"""What is found in a frame is what the definition of a match says, on random patterns and tables."""

from random import Random

import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.catalog.loader import Catalog
from foresail.patterns.errors import CannotMatchError, PatternError
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import pattern_text
from foresail.pipeline.api.patterns import pattern
from foresail.pipeline.local import runner
from foresail.pipeline.local.frames import open_frame
from foresail.pipeline.local.runner import find_matches
from foresail.pipeline.local.search import prepare_search
from foresail.pipeline.local.sorted_events import Named, sort_events
from tests.patterns.brute_force import matches_by_event
from tests.patterns.random_patterns import HERE, TRUTHS, WHERE, Track, random_pattern, random_track


def table_of(tracks: list[Track], random: Random) -> pa.Table:
    """The events of all tracks in any order; those of one time keep theirs by an offset."""
    rows = [
        {"track": f"t{n}", "time": time, "offset": place, "x": value}
        for n, track in enumerate(tracks)
        for place, (value, time) in enumerate(zip(track.values, track.times, strict=True))
    ]
    random.shuffle(rows)
    schema = pa.schema([("track", pa.string()), ("time", pa.int64()), ("offset", pa.int64()), ("x", pa.int64())])
    return pa.Table.from_pylist(rows, schema=schema)


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 1_000_000), output=st.sampled_from(["detect", "count", "enumerate"]))
def test_matches_are_those_of_the_definition(seed: int, output: str) -> None:
    random = Random(seed)
    tree = random_pattern(random, 2)
    rules = {"window": random.choice([None, "4 events"]), "after_match": random.choice(["continue", "restart"])}
    try:
        entry = pattern("p", pattern_text(tree), WHERE, output=output, **rules)
    except (CannotMatchError, PatternError):
        return
    tracks = [random_track(random) for _ in range(3)]
    events = sort_events(open_frame(table_of(tracks, random)), Named(time_unit="us"))
    sought = prepare_search(Catalog((entry,)), events).sought
    found: dict[str, dict[int, set[frozenset[int]]]] = {}
    for row in find_matches(sought, events, places=False).to_pylist():
        sets = found.setdefault(row["track"], {}).setdefault(row["index"], set())
        sets.add(frozenset(row["events"] or ()))
    for n, track in enumerate(tracks):
        holds = [lambda name, x=x: TRUTHS[name](x) for x in track.values]
        expected = matches_by_event(
            parse_pattern(pattern_text(tree), HERE),
            holds,
            track.times,
            window_events=4 if rules["window"] else None,
            restart=rules["after_match"] == "restart",
        )
        mine = found.get(f"t{n}", {})
        assert mine.keys() == expected.keys()
        if output == "enumerate":
            assert mine == expected


def test_slices_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    random = Random(4)
    entry = pattern("rise", "a ; b+", WHERE, window="5 events")
    events = sort_events(
        open_frame(table_of([random_track(random, 60) for _ in range(5)], random)), Named(time_unit="us")
    )
    sought = prepare_search(Catalog((entry,)), events).sought
    whole = find_matches(sought, events, places=False)
    assert whole.num_rows > 5
    monkeypatch.setattr(runner, "EVENTS_PER_CALL", 7)
    assert find_matches(sought, events, places=False).to_pylist() == whole.to_pylist()


def test_the_place_of_a_match_is_that_of_its_detecting_event() -> None:
    frame = pd.DataFrame({"track": "a", "time": [1, 2, 3], "x": [0, 1, 5], "lon": [1.0, None, 3.0], "lat": [4, 5, 6]})
    events = sort_events(open_frame(frame), Named(time_unit="s"))
    entry = pattern("p", "[x < 2] ; [x == 5]")
    rows = find_matches(prepare_search(Catalog((entry,)), events).sought, events, events.has_places).to_pylist()
    assert [(row["index"], row["lon"], row["lat"]) for row in rows] == [(3, 3.0, 6.0)]
