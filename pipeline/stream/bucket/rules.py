"""How a bucket keeps time."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BucketRules:
    """How long a bucket waits for events that are out of order, and for tracks that are silent."""

    out_of_order_us: int = 0
    rest_after_us: int = 900_000_000
    forget_after_us: int = 86_400_000_000
    keep_same_time: bool = False
    rerun_us: int = 0
    """How far behind the newest one of its track a late event is read after all."""
    gap_us: int = 1_800_000_000
    """A longer silence of a track is a gap, after which it is counted from anew."""
    timers_wait_us: int = 0
    """How far timers stay behind the events: a pair of tracks is as late as the later of the two."""
