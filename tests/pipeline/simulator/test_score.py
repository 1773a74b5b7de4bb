"""Scores count what overlaps, on the same track, and nothing else."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pandas as pd

from foresail.pipeline.simulator.score import PatternScore, score_matches

START = datetime(2026, 3, 2, tzinfo=UTC)


def at(minutes: int) -> datetime:
    return START + timedelta(minutes=minutes)


def test_found_missed_wrong_and_near_misses_are_told_apart(tmp_path: Path) -> None:
    truth = pd.DataFrame(
        [
            ("trawling", "a", None, at(0), at(10), "injected"),
            ("trawling", "a", None, at(60), at(70), "injected"),
            ("trawling", "b", None, at(0), at(10), "incidental"),
            ("trawling", "c", None, at(0), at(10), "near_miss"),
            ("encounter", "a", "b", at(0), at(10), "injected"),
        ],
        columns=["pattern", "track", "other_track", "start", "end", "kind"],
    )
    matches = pd.DataFrame(
        [
            ("m1", "trawling", "a", at(2), at(4), "opened"),
            ("m1", "trawling", "a", at(2), at(9), "closed"),
            ("m2", "trawling", "b", at(10), at(12), "opened"),
            ("m3", "trawling", "c", at(5), at(6), "opened"),
            ("m4", "trawling", "d", at(5), at(6), "opened"),
            ("m5", "encounter", "a|b", at(5), at(6), "opened"),
        ],
        columns=["match_id", "pattern", "track", "start_time", "time", "status"],
    )
    truth.to_parquet(tmp_path / "truth.parquet")
    matches.to_parquet(tmp_path / "matches.parquet")
    encounter, trawling = score_matches(tmp_path / "matches.parquet", tmp_path / "truth.parquet")
    assert trawling == PatternScore("trawling", 2, 1, 1, 1, 1, 1, 4, 2)
    assert (trawling.recall, trawling.precision) == (0.5, 0.5)
    assert encounter == PatternScore("encounter", 1, 1, 0, 0, 0, 0, 1, 1)
