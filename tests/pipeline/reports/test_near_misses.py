"""Why a pattern was not found: counts of its conditions, and how near tracks came."""

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from foresail.patterns.catalog.loader import read_catalog
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.spec import without_features
from foresail.pipeline.reports.match_events import Searched
from foresail.pipeline.reports.near_misses import _sought, absent_details, in_short, near_miss_group, seen
from foresail.pipeline.reports.spark_reading import read_near_misses

START = datetime(2026, 3, 2, tzinfo=UTC)
PATTERNS = """
patterns:
- {name: three, domain: maritime, says: Three., where: {a: x = 1, b: x = 2, c: x = 3}, pattern: a ; b ; c}
- {name: soon, domain: maritime, says: Soon., where: {a: x = 1, b: x = 2}, pattern: a ; b, window: 1 min}
- {name: again, domain: maritime, says: Again., where: {a: x = 1}, pattern: "a{3}", max_gap: 30 min}
- {name: alien, domain: maritime, says: Alien., where: {z: x = 99}, pattern: z ; z}
"""


@pytest.fixture
def patterns(tmp_path: Path) -> dict[str, Searched]:
    (tmp_path / "patterns.yaml").write_text(PATTERNS)
    catalog = read_catalog([tmp_path / "patterns.yaml"])
    return {entry.name: Searched(entry, compile_pattern(without_features(entry.spec()))) for entry in catalog}


def events(*rows: tuple[str, int, int]) -> pa.Table:
    """Each row is (track, minute, x)."""
    held: dict[str, list[Any]] = {
        "track": [track for track, _, _ in rows],
        "time": [START + timedelta(minutes=minute) for _, minute, _ in rows],
        "x": [x for _, _, x in rows],
        "lon": [minute / 10 for _, minute, _ in rows],
        "lat": [50.0 for _ in rows],
    }
    return pa.table({**held, "time": pa.array(held["time"], pa.timestamp("us", tz="UTC"))})


def sought(pattern: Searched, table: pa.Table) -> Any:
    blank = dict.fromkeys(("condition", "missing", "number", "track", "time", "lon", "lat"))
    return _sought(pattern, [{**blank, **row} for row in seen(pattern, table)])


TABLE = events(("m", 0, 1), ("m", 5, 2), ("m", 9, 1), ("n", 0, 1), ("n", 4, 0), ("n", 90, 1), ("o", 0, 7))


def test_conditions_are_counted_and_the_nearest_track_is_named(patterns: dict[str, Searched]) -> None:
    found = sought(patterns["three"], TABLE)
    assert (found.events, found.holds, found.needed, found.tracks) == (7, (4, 1, 0), 3, 1)
    (near,) = found.nearest
    assert (near.track, near.time, near.missing, near.lon) == ("m", START + timedelta(minutes=5), 1, 0.5)
    said = in_short(patterns["three"], found)
    assert said == (
        "7 events were looked at. The condition c never held. "
        "1 track came as near as this: 1 event was missing of at least 3."
    )


def test_what_took_too_long_and_what_never_began_are_told_apart(patterns: dict[str, Searched]) -> None:
    late = sought(patterns["soon"], TABLE)
    assert [near.missing for near in late.nearest] == [0]
    assert "1 track did all of it in this order, but not within 1 min." in in_short(patterns["soon"], late)
    alien = sought(patterns["alien"], TABLE)
    assert (alien.nearest, alien.holds) == ((), (0,))
    assert in_short(patterns["alien"], alien).endswith("The condition z never held. Nothing of it was ever under way.")


def test_a_long_silence_begins_anew(patterns: dict[str, Searched]) -> None:
    found = sought(patterns["again"], events(("m", 0, 1), ("m", 5, 1), ("m", 60, 1)))
    (near,) = found.nearest
    assert (near.missing, near.time) == (1, START + timedelta(minutes=5))


def test_the_page_and_the_map_tell_of_them(patterns: dict[str, Searched]) -> None:
    held = {name: sought(pattern, TABLE) for name, pattern in patterns.items()}
    made = absent_details(tuple(patterns.values()), held, {"m": "MAY <i>"}, {})
    assert "MAY &lt;i&gt;: 1 event was missing." in made
    assert made.count("<details") == 4
    group = near_miss_group(held, {})
    assert group is not None
    assert all(f'data-show="{mark.ref}"' in made and f'id="{mark.ref}"' in made for mark in group.marks)


@pytest.mark.spark
def test_spark_reads_the_same(spark: SparkSession, patterns: dict[str, Searched]) -> None:
    frame = spark.createDataFrame(TABLE.to_pandas())
    read = read_near_misses(frame, TABLE.num_rows, patterns)
    assert {name: (held.holds, held.tracks) for name, held in read.items()} == {
        name: (held.holds, held.tracks) for name, held in ((n, sought(p, TABLE)) for n, p in patterns.items())
    }
    assert [near.track for near in read["three"].nearest] == ["m"]
