"""How early a match was foretold: the first correct forecast before it, and the matches without any."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Earliness:
    """Over all matches with a scored event before them."""

    matches: int
    missed: int
    """Matches without a correct forecast."""
    mean: float | None
    """Events from the first correct forecast to the match, over the matches that have one."""
    median: float | None
    histogram: tuple[int, ...]
    """`histogram[n - 1]` matches were first foretold n events ahead."""

    @property
    def missed_share(self) -> float | None:
        """The share of matches without a correct forecast."""
        return self.missed / self.matches if self.matches else None


def score_earliness(
    positive: NDArray[np.bool_], until: NDArray[np.int64], match_ahead: NDArray[np.int64], within: int
) -> Earliness:
    """`match_ahead` names, for each event, the match that `until` counts to; events without one have a negative."""
    in_reach = (until > 0) & (until <= within) & (match_ahead >= 0)
    names, number = np.unique(match_ahead[in_reach], return_inverse=True)
    first = np.zeros(len(names), dtype=np.int64)
    np.maximum.at(first, number, np.where(positive[in_reach], until[in_reach], 0))
    foretold = first[first > 0]
    return Earliness(
        matches=len(names),
        missed=int((first == 0).sum()),
        mean=float(foretold.mean()) if len(foretold) else None,
        median=float(np.median(foretold)) if len(foretold) else None,
        histogram=tuple(int(n) for n in np.bincount(foretold, minlength=within + 1)[1 : within + 1]),
    )
