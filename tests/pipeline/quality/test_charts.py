"""Pictures as text."""

import re

from foresail.pipeline.quality.charts import bars, bucket_labels, coverage_map, duration


def test_the_longest_bar_is_the_largest_value() -> None:
    drawn = bars(["a", "b<"], [1, 4])
    lengths = [float(found) for found in re.findall(r'width="([\d.]+)" height="13"', drawn)]
    assert lengths[1] == 4 * lengths[0]
    assert "b&lt;" in drawn


def test_buckets_are_named_by_their_edges() -> None:
    assert bucket_labels([1, 60, 3600], duration) == ["up to 1 s", "1 s - 1 min", "1 min - 1 h", "over 1 h"]


def test_the_map_puts_north_up_and_marks_every_cell() -> None:
    drawn = coverage_map({"cell_deg": 1.0, "west": 5.0, "south": 50.0, "cells": [[0, 0, 1], [1, 2, 9]]})
    south, north = (float(y) for y in re.findall(r'y="([\d.]+)" width="[\d.]+" height="[\d.]+" class="cell"', drawn))
    assert north < south
    assert "50.00" in drawn
    assert coverage_map({"cell_deg": None, "cells": []}) == "<p>no positions</p>"
