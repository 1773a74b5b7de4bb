"""The page: complete, self-contained, and safe with whatever names a feed brings.

Pictures as text.
"""

import re
from typing import Any

from foresail.pipeline.quality.report import GRID_LINES, WIDTH, bars, bucket_labels, coverage_map, duration, render

KNOWN = {"lon": 1.0, "heading_deg": 0.5}
EXTENT: dict[str, Any] = {
    "rows": 3,
    "tracks": 2,
    "first": "a",
    "last": None,
    "box": [1.0, 2.0, 3.0, 4.0],
    "known": KNOWN,
}
SPREAD = {"count": 2, "mean": 3.0, "max": 4.0, "quantiles": {"0.5": 3.0}, "edges": [1, 5], "buckets": [0, 2, 0]}
QUALITY: dict[str, Any] = {
    "feed": "<script>",
    "files_read": ["a&b.csv"],
    "rows_in": 10,
    "rows_out": 7,
    "rejected": 2,
    "duplicates": 1,
    "out_of_order": 1,
    "rows_stored": 7,
    "tracks": 2,
    "reasons": {"zero_position": 2},
    "duplicate_kinds": {"same_time": 1},
    "repairs": {},
    "before": EXTENT,
    "after": EXTENT,
    "positions_per_track": SPREAD,
    "intervals": {**SPREAD, "count": 0},
    "gaps": {"over_12_h": 1, "longest": [{"track": "<i>", "gap_s": 50_000.0, "ended": "b"}]},
    "coverage": {"cell_deg": 1.0, "west": 5.0, "south": 50.0, "cells": [[0, 0, 1]]},
}


def test_the_page_needs_nothing_from_elsewhere() -> None:
    page = render(QUALITY)
    assert "http" not in page
    assert "<script" not in page
    assert "<i>" not in page
    assert "a&amp;b.csv" in page


def test_the_page_shows_the_balance_and_every_reason_with_its_meaning() -> None:
    page = render(QUALITY)
    assert "<b>10</b> rows in = <b>7</b> positions + <b>2</b> rejected + <b>1</b> duplicates" in page
    assert "zero_position" in page
    assert "exactly 0, 0" in page
    assert "50.0%" in page


def test_the_longest_bar_is_the_largest_value() -> None:
    drawn = bars(["a", "b<"], [1, 4])
    lengths = [float(found) for found in re.findall(r'width="([\d.]+)" height="13"', drawn)]
    assert lengths[1] == 4 * lengths[0]
    assert "b&lt;" in drawn
    number = float(re.findall(r'<text x="([\d.]+)" y="\d+">4<', drawn)[0])
    assert WIDTH - 100 < number < WIDTH - 80


def test_buckets_are_named_by_their_edges() -> None:
    assert bucket_labels([1, 60, 3600], duration) == ["up to 1 s", "1 s - 1 min", "1 min - 1 h", "over 1 h"]


def test_the_map_puts_north_up_and_marks_every_cell() -> None:
    drawn = coverage_map({"cell_deg": 1.0, "west": 5.0, "south": 50.0, "cells": [[0, 0, 1], [1, 2, 9]]})
    south, north = (float(y) for y in re.findall(r'y="([\d.]+)" width="[\d.]+" height="[\d.]+" class="cell"', drawn))
    assert north < south
    assert "50.00" in drawn
    assert drawn.count('class="grid"') == 2 * (GRID_LINES + 1)
    assert "53.00" in drawn
    assert coverage_map({"cell_deg": None, "cells": []}) == "<p>no positions</p>"
