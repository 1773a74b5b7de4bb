"""Matches against the truth of a simulation: what was found of what happened, and what was reported that did not.

A true event is found when a match of its pattern on its track overlaps it in time; a match is right when it overlaps
a true event, injected or incidental. A near-miss is hit when a match overlaps it and no true event.
"""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow.parquet as pq

INJECTED, INCIDENTAL, NEAR_MISS = "injected", "incidental", "near_miss"
VARIANTS = {"drifting_rtec": "drifting", "trawling_rtec": "trawling"}
"""Other definitions of the same behaviour: they have no truth of their own and are not scored."""


@dataclass(frozen=True, slots=True)
class PatternScore:
    """How one pattern did."""

    pattern: str
    injected: int
    injected_found: int
    incidental: int
    incidental_found: int
    near_misses: int
    near_misses_hit: int
    reported: int
    reported_right: int

    @property
    def recall(self) -> float | None:
        """The share of injected events that were found."""
        return self.injected_found / self.injected if self.injected else None

    @property
    def precision(self) -> float | None:
        """The share of reports that are true events."""
        return self.reported_right / self.reported if self.reported else None

    @property
    def row(self) -> dict[str, Any]:
        """All figures by name."""
        return {**asdict(self), "recall": self.recall, "precision": self.precision}


def score_matches(matches: Path, truth: Path) -> tuple[PatternScore, ...]:
    """The score of each pattern that has truth or was reported, by name."""
    happened = pq.read_table(truth).to_pandas()
    happened["track"] = _pair_or_track(happened)
    reported = _intervals(pq.read_table(matches).to_pandas())
    names = sorted((set(happened["pattern"]) | set(reported["pattern"])) - set(VARIANTS))
    return tuple(
        _score(name, happened[happened["pattern"] == name], reported[reported["pattern"] == name]) for name in names
    )


def _pair_or_track(happened: pd.DataFrame) -> pd.Series:
    """The track of a match: of a pair, both names in order."""
    other = happened["other_track"].fillna("")
    ordered = (
        happened["track"].where(happened["track"] < other, other)
        + "|"
        + other.where(happened["track"] < other, happened["track"])
    )
    return happened["track"].where(other == "", ordered)


def _intervals(matches: pd.DataFrame) -> pd.DataFrame:
    """One row per detection or episode, from its start to its last event."""
    grouped = matches.groupby("match_id", sort=False)
    return grouped.agg(
        pattern=("pattern", "first"), track=("track", "first"), start=("start_time", "min"), end=("time", "max")
    )


def _score(name: str, happened: pd.DataFrame, reported: pd.DataFrame) -> PatternScore:
    true = happened[happened["kind"].isin([INJECTED, INCIDENTAL])]
    injected, incidental = (true[true["kind"] == kind] for kind in (INJECTED, INCIDENTAL))
    near = happened[happened["kind"] == NEAR_MISS]
    right = _overlapping(reported, true)
    return PatternScore(
        pattern=name,
        injected=len(injected),
        injected_found=int(_overlapping(injected, reported).sum()),
        incidental=len(incidental),
        incidental_found=int(_overlapping(incidental, reported).sum()),
        near_misses=len(near),
        near_misses_hit=int(_overlapping(near, reported[~right]).sum()),
        reported=len(reported),
        reported_right=int(right.sum()),
    )


def _overlapping(some: pd.DataFrame, others: pd.DataFrame) -> pd.Series:
    """For each row of `some`, whether a row of `others` on the same track shares a moment with it."""
    numbered = some.assign(row=range(len(some)))
    both = numbered.merge(others[["track", "start", "end"]], on="track", suffixes=("", "_other"))
    shared = both[(both["start"] <= both["end_other"]) & (both["start_other"] <= both["end"])]
    return pd.Series(numbered["row"].isin(shared["row"]).to_numpy(dtype=bool), index=some.index)
