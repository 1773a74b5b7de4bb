"""How soon the runs of a pattern settle while an event like the last one comes again and again.

On a stretch of like events the starts of the runs soon depend on the last few of them alone. Of the latest starts, one
that comes later overtakes the earlier ones, or none comes and the old ones stay; of the earliest, those that came first
stay for ever, or none survives longer than a few events. From then on a kernel may skip events and make up for them
with as many steps, exactly.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.automata.nondeterministic import Transition

NO_FIXPOINT = 1 << 30
_NONE = NO_FIXPOINT
_LONG_AGO = NO_FIXPOINT - 1
"""How far back a run begins that had marked an event before the stretch: earlier than any other, whenever."""
_UNMARKED = -1
"""How far back a run begins that has marked nothing yet: in the future, later than any other."""

Starts = dict[int, tuple[int, dict[int, int]]]
"""Per run state: how many events back the latest run begins that came up on the stretch, and the run states before the
stretch whose runs may begin later, each with how far back they begin if they had marked nothing before it."""


def events_to_fixpoint(runs: int, unmarked: frozenset[int], steps: Sequence[Transition]) -> int:
    """After how many like events, which enable `steps`, one more changes nothing; UNSETTLED if that is not soon."""
    return max(_latest_settle(runs, unmarked, steps), _earliest_settle(runs, steps))


def _earliest_settle(runs: int, steps: Sequence[Transition]) -> int:
    """After how many like events the same run states lead to the same ones, however many more of them come.

    A run that begins on such an event and lasts at least so long stands wherever one does that began earlier on the
    stretch, and tells nothing new. Runs that have marked nothing are looked at apart from those that have.
    """
    led = np.zeros((2 * runs, 2 * runs), dtype=np.bool_)
    led[0, 0] = True
    for step in steps:
        led[step.source, step.target + (runs if step.marked else 0)] = True
        led[step.source + runs, step.target + runs] = True
    power: NDArray[np.bool_] = led
    for count in range(1, 2 * runs + 2):
        further = (power.astype(np.int32) @ led.astype(np.int32)) > 0
        if np.array_equal(further, power):
            return count
        power = further
    return NO_FIXPOINT


def _latest_settle(runs: int, unmarked: frozenset[int], steps: Sequence[Transition]) -> int:
    starts: Starts = {run: (_NONE, {run: _UNMARKED if run in unmarked else _LONG_AGO}) for run in range(1, runs)}
    for count in range(2 * runs + 1):
        after = _after_one_more(starts, steps)
        if after == starts and count:
            return count
        starts = after
    return NO_FIXPOINT


def _after_one_more(starts: Starts, steps: Sequence[Transition]) -> Starts:
    older = {
        run: (_one_back(fresh), {before: _one_back(back) for before, back in old.items()})
        for run, (fresh, old) in starts.items()
    }
    after: Starts = {}
    for step in steps:
        fresh, old = (_UNMARKED, {}) if step.source == 0 else older.get(step.source, (_NONE, {}))
        if step.marked:
            fresh, old = _marked(fresh), {run: _marked(back) for run, back in old.items()}
        known_fresh, known_old = after.get(step.target, (_NONE, {}))
        after[step.target] = (min(fresh, known_fresh), _latest(old, known_old))
    return {run: (fresh, _ahead_of(fresh, old)) for run, (fresh, old) in after.items() if fresh != _NONE or old}


def _one_back(back: int) -> int:
    return back if back in (_NONE, _LONG_AGO, _UNMARKED) else back + 1


def _marked(back: int) -> int:
    return 0 if back == _UNMARKED else back


def _latest(left: Mapping[int, int], right: Mapping[int, int]) -> dict[int, int]:
    return {run: min(left.get(run, _NONE), right.get(run, _NONE)) for run in {**left, **right}}


def _ahead_of(fresh: int, old: Mapping[int, int]) -> dict[int, int]:
    """Old runs that may still begin later than the fresh one; those that had marked something never do."""
    return {run: back for run, back in old.items() if fresh == _NONE or back < fresh}
