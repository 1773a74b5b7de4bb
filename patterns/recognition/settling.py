"""How soon the runs of a pattern settle while an event like the last one comes again and again.

On a stretch of like events the starts of the runs soon depend on the last few of them alone: a run that begins later
overtakes the earlier ones, or none begins and the old ones stay. From then on a kernel may skip events and make up
for them with as many steps, exactly.
"""

from collections.abc import Mapping, Sequence

from patterns.automata.nondeterministic import Nondeterministic, Transition

UNSETTLED = 1 << 30
_NONE = UNSETTLED
_LONG_AGO = UNSETTLED - 1
"""How far back a run begins that had marked an event before the stretch: earlier than any other, whenever."""
_UNMARKED = -1
"""How far back a run begins that has marked nothing yet: in the future, later than any other."""

Starts = dict[int, tuple[int, dict[int, int]]]
"""Per run state: how many events back the latest run begins that came up on the stretch, and the run states before the
stretch whose runs may begin later, each with how far back they begin if they had marked nothing before it."""


def unmarked_runs(automaton: Nondeterministic) -> frozenset[int]:
    """The run states in which a run may stand that has marked nothing yet."""
    found = {0}
    for _ in range(automaton.states):
        found |= {t.target for t in automaton.transitions if t.source in found and not t.marked}
    return frozenset(found)


def events_to_settle(runs: int, unmarked: frozenset[int], steps: Sequence[Transition]) -> int:
    """After how many like events, which enable `steps`, one more changes nothing; UNSETTLED if that is not soon."""
    starts: Starts = {run: (_NONE, {run: _UNMARKED if run in unmarked else _LONG_AGO}) for run in range(1, runs)}
    for count in range(2 * runs + 1):
        after = _after_one_more(starts, steps)
        if after == starts and count:
            return count
        starts = after
    return UNSETTLED


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
