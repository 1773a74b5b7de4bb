"""The page: complete, self-contained, and safe with whatever names a feed brings."""

from typing import Any

from foresail.pipeline.quality.report import render

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
