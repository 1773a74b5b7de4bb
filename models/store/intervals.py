"""Counts by the interval of time they come from, so that a day can be counted again without counting twice.

The counts of a model store: those that models are learned from, of all tracks and by group, and of intervals.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from foresail.models.counts import (
    Counts,
    GroupedCounts,
    counts_from_bytes,
    counts_to_bytes,
    decay,
    grouped_from_bytes,
    grouped_to_bytes,
    half_life_factor,
    merge,
)
from foresail.models.errors import IntervalError
from foresail.models.identity import Identity
from foresail.models.store.manifest import inside
from foresail.models.store.storage import Storage

FOLDER = "counts"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_TIME = "%Y%m%dT%H%M%SZ"
_NAME = re.compile(r"(\d{8}T\d{6}Z)-(\d{8}T\d{6}Z)")
_DAY_US = 86_400_000_000


@dataclass(frozen=True, slots=True, order=True)
class Interval:
    """From a time until before another, in microseconds since 1970."""

    begin_us: int
    end_us: int

    def __post_init__(self) -> None:
        if self.begin_us >= self.end_us:
            msg = f"interval {_text(self.begin_us)} to {_text(self.end_us)}: it is empty. Give a later end."
            raise IntervalError(msg)

    def __str__(self) -> str:
        return f"{_text(self.begin_us)}-{_text(self.end_us)}"


@dataclass(frozen=True, slots=True)
class Merged:
    """Counts of several intervals together, and the intervals that were left out as they count other symbols."""

    counts: Counts
    intervals: tuple[Interval, ...]
    left_out: tuple[Interval, ...]


def keep_interval(storage: Storage, counts: Counts, interval: Interval) -> None:
    """Keep the counts of one interval in place of those it had; one that overlaps another is refused."""
    pattern = counts.identity.pattern
    for other in intervals_of(storage, pattern):
        if other != interval and other.begin_us < interval.end_us and interval.begin_us < other.end_us:
            msg = (
                f"{storage.place}: counts of {pattern} for {interval} overlap those for {other}: events would count "
                f"twice. Train on other times, or remove {_path(pattern, other)}."
            )
            raise IntervalError(msg)
    storage.write(_path(pattern, interval), counts_to_bytes(counts))


def intervals_of(storage: Storage, pattern: str) -> tuple[Interval, ...]:
    """The intervals that were counted, oldest first."""
    found = (interval_named(name.removesuffix(".npz")) for name in storage.names(inside(pattern, FOLDER)))
    return tuple(sorted(interval for interval in found if interval is not None))


def interval_between(begin: datetime, end: datetime) -> Interval:
    """The interval between two moments, to the second."""
    return Interval(*(round((moment - _EPOCH).total_seconds()) * 1_000_000 for moment in (begin, end)))


def interval_named(name: str) -> Interval | None:
    """The interval that prints as `name`; None where that is no interval."""
    found = _NAME.fullmatch(name)
    return Interval(_micros(found[1]), _micros(found[2])) if found else None


def interval_counts(storage: Storage, pattern: str, interval: Interval) -> Counts:
    """The counts of one interval."""
    return counts_from_bytes(storage.read(_path(pattern, interval)), f"{storage.place}/{_path(pattern, interval)}")


def merge_intervals(
    storage: Storage, identity: Identity, until_us: int | None = None, half_life_days: float | None = None
) -> Merged | None:
    """All intervals that end by `until_us`, older ones made lighter; None when there is none of this identity."""
    held = [
        (interval, interval_counts(storage, identity.pattern, interval))
        for interval in intervals_of(storage, identity.pattern)
        if until_us is None or interval.end_us <= until_us
    ]
    kept = [(interval, counts) for interval, counts in held if counts.identity == identity]
    left_out = tuple(interval for interval, counts in held if counts.identity != identity)
    if not kept:
        return None
    counts = merge(_weighed(kept, half_life_days))
    return Merged(counts, tuple(interval for interval, _ in kept), left_out)


def _weighed(kept: Sequence[tuple[Interval, Counts]], half_life_days: float | None) -> list[Counts]:
    if half_life_days is None:
        return [counts for _, counts in kept]
    newest = max(interval.end_us for interval, _ in kept)
    ages = [(newest - interval.end_us) / _DAY_US for interval, _ in kept]
    return [decay(counts, half_life_factor(age, half_life_days)) for age, (_, counts) in zip(ages, kept, strict=True)]


def _path(pattern: str, interval: Interval) -> str:
    return inside(pattern, FOLDER, f"{interval}.npz")


def _text(micros: int) -> str:
    return (_EPOCH + timedelta(microseconds=micros)).strftime(_TIME)


def _micros(text: str) -> int:
    return round((datetime.strptime(text, _TIME).replace(tzinfo=UTC) - _EPOCH).total_seconds()) * 1_000_000


class CountStore:
    """Counts by pattern, and by interval of time."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage

    def counts(self, pattern: str) -> Counts | None:
        """The counts that the pattern's models are learned from, if there are any."""
        try:
            return counts_from_bytes(self.storage.read(_counts(pattern)), f"{self.storage.place}/{_counts(pattern)}")
        except FileNotFoundError:
            return None

    def keep_counts(self, counts: Counts) -> None:
        """Keep the counts beside the models."""
        self.storage.write(_counts(counts.identity.pattern), counts_to_bytes(counts))

    def counts_by_group(self, pattern: str, per: str) -> GroupedCounts | None:
        """The counts that the models of groups are learned from, if there are any."""
        path = _counts_per(pattern, per)
        try:
            return grouped_from_bytes(self.storage.read(path), f"{self.storage.place}/{path}")
        except FileNotFoundError:
            return None

    def keep_counts_by_group(self, counts: GroupedCounts, per: str) -> None:
        """Keep the counts of groups beside those of all tracks."""
        self.storage.write(_counts_per(counts.identity.pattern, per), grouped_to_bytes(counts))

    def keep_interval(self, counts: Counts, interval: Interval) -> None:
        """Keep the counts of an interval, in place of those it had."""
        with self.storage.locked():
            keep_interval(self.storage, counts, interval)

    def counted(self, pattern: str) -> tuple[Interval, ...]:
        """The intervals that were counted, oldest first."""
        return intervals_of(self.storage, pattern)

    def interval_counts(self, pattern: str, interval: Interval) -> Counts:
        """The counts of one interval."""
        return interval_counts(self.storage, pattern, interval)

    def last_counts(self, pattern: str) -> Counts | None:
        """The counts of the newest interval: which features they count, the next one must count too."""
        held = self.counted(pattern)
        return self.interval_counts(pattern, held[-1]) if held else None

    def merge_intervals(
        self, identity: Identity, until_us: int | None = None, half_life_days: float | None = None
    ) -> Merged | None:
        """The counts of all intervals up to a time as one, kept as the pattern's counts."""
        with self.storage.locked():
            merged = merge_intervals(self.storage, identity, until_us, half_life_days)
            if merged is not None:
                self.keep_counts(merged.counts)
        return merged


def _counts(pattern: str) -> str:
    return inside(pattern, "counts.npz")


def _counts_per(pattern: str, per: str) -> str:
    return inside(pattern, f"counts_per_{per}.npz")
