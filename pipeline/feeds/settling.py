"""Tracks settled in arrays: which positions leave them, which are mended, and which piece of a track each is of."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.pipeline.feeds import settle_kernels as kernels
from foresail.pipeline.feeds.settle_kernels import EXACT_DUPLICATE, KEPT, OUT_OF_RANGE, SAME_TIME, SPIKE, STRAY, kernel
from foresail.pipeline.feeds.texts import Longs, Mask
from foresail.pipeline.stages.derive import DeriveOptions
from foresail.pipeline.stages.policy import Policy

Doubles = NDArray[np.float64]
LATE_REASONS = {
    OUT_OF_RANGE: "position_out_of_range",
    SPIKE: "position_spike",
    STRAY: "position_jump",
}
LATE_KINDS = {EXACT_DUPLICATE: "exact_duplicate", SAME_TIME: "same_time"}


@dataclass(slots=True, eq=False)
class TrackRows:
    """Positions sorted by track, time, source and offset; an unknown longitude or latitude is NaN."""

    codes: Longs
    times: Longs
    lons: Doubles
    lats: Doubles

    def take(self, rows: NDArray[np.int64]) -> "TrackRows":
        """These rows alone."""
        return TrackRows(self.codes[rows], self.times[rows], self.lons[rows], self.lats[rows])

    @property
    def arrays(self) -> tuple[Longs, Longs, Doubles, Doubles]:
        """What kernels ask for."""
        return self.codes, self.times, self.lons, self.lats


@dataclass(frozen=True, slots=True, eq=False)
class Settled:
    """For each row why it left its track (KEPT: it did not), whether its place was turned, and the piece it is of."""

    late: NDArray[np.uint8]
    turned: Mask
    pieces: Longs | None


def settle(rows: TrackRows, policy: Policy, options: DeriveOptions) -> Settled:
    """Find repeats, swapped places, spikes and stray pieces; longitudes and latitudes of `rows` are put right."""
    limits = (options.jump_speed_kn, options.min_jump_m)
    late = np.full(len(rows.codes), KEPT, np.uint8)
    turned = np.zeros(len(rows.codes), np.bool_)
    _mark_repeats(rows, policy, late)
    placed = _Staying(rows, late, turned)
    if placed.rows.lats.size and np.nanmax(np.abs(placed.rows.lats), initial=0) > 90:
        kernel(kernels.mark_swaps)(*placed.rows.arrays, *limits, placed.late, placed.turned)
        placed = placed.settled()
    jumped = np.empty(len(placed.rows.codes), np.uint8)
    jumps = kernel(kernels.mark_jumps)(*placed.rows.arrays, *limits, jumped)
    if policy.spikes == "reject" and jumps:
        spikes = kernel(kernels.mark_spikes)(*placed.rows.arrays, *limits, jumped, placed.late, placed.turned)
        if spikes:
            placed = placed.settled()
            jumped = np.empty(len(placed.rows.codes), np.uint8)
            kernel(kernels.mark_jumps)(*placed.rows.arrays, *limits, jumped)
    if policy.jumps == "flag":
        return Settled(late, turned, None)
    pieces = np.empty(len(jumped), np.int64)
    kernel(kernels.number_pieces)(placed.rows.codes, jumped, pieces)
    if policy.jumps == "reject":
        kernel(kernels.mark_strays)(placed.rows.codes, pieces, policy.min_piece, placed.late)
        placed.settled()
        return Settled(late, turned, None)
    of_all = np.zeros(len(late), np.int64)
    of_all[placed.which] = pieces
    return Settled(late, turned, of_all)


def _mark_repeats(rows: TrackRows, policy: Policy, late: NDArray[np.uint8]) -> None:
    if policy.same_time == "drop":
        kernel(kernels.mark_repeats)(*rows.arrays, late)
        return
    order = np.lexsort((rows.lats, rows.lons, rows.times, rows.codes))  # stable: the first received comes first
    marked = np.full(len(order), KEPT, np.uint8)
    kernel(kernels.mark_copies)(*rows.take(order).arrays, marked)
    late[order] = marked


class _Staying:
    """The rows that are still in their tracks, and what is found about them."""

    def __init__(self, whole: TrackRows, late: NDArray[np.uint8], turned: Mask) -> None:
        self._whole, self._late, self._turned = whole, late, turned
        self.which = np.flatnonzero(late == KEPT)
        every = len(self.which) == len(late)
        self.rows = whole if every else whole.take(self.which)
        self.late = np.full(len(self.which), KEPT, np.uint8)
        self.turned = np.zeros(len(self.which), np.bool_)

    def settled(self) -> "_Staying":
        """What was found, put to the whole; those that stay then."""
        self._late[self.which] = self.late
        turned = self.which[self.turned]
        self._turned[turned] = True
        lons, lats = self._whole.lons, self._whole.lats
        lons[turned], lats[turned] = lats[turned], lons[turned].copy()
        return _Staying(self._whole, self._late, self._turned)
