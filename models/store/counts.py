"""The counts of a model store: those that models are learned from, of all tracks and by group, and of intervals."""

from foresail.models.counts import (
    Counts,
    GroupedCounts,
    counts_from_bytes,
    counts_to_bytes,
    grouped_from_bytes,
    grouped_to_bytes,
)
from foresail.models.identity import Identity
from foresail.models.store.intervals import (
    Interval,
    Merged,
    interval_counts,
    intervals_of,
    keep_interval,
    merge_intervals,
)
from foresail.models.store.names import inside
from foresail.models.store.storage import Storage


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
