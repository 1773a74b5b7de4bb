"""Rows of several origins put together, the events they list included."""

import numpy as np

from foresail.patterns.recognition.matches import NO_FEATURE, Matches, joined, no_registers


def listing(*sets: tuple[int, ...]) -> Matches:
    """A row for each set of events, detected at its last one."""
    last = np.array([events[-1] if events else 0 for events in sets], dtype=np.int64)
    none = np.zeros(len(sets), dtype=np.int64)
    return Matches(
        event=last,
        pattern=none.astype(np.int32),
        status=none.astype(np.uint8),
        index=last,
        time=last,
        start_time=none,
        first_start_time=none,
        id_time=last,
        id_tie=none,
        count=none,
        omitted=none,
        feature=none.astype(np.int32) + NO_FEATURE,
        members=np.array([event for events in sets for event in events], dtype=np.int64),
        members_end=np.cumsum([len(events) for events in sets], dtype=np.int64),
        register_index=no_registers(len(sets)),
        register_time=no_registers(len(sets)),
    )


def listed(matches: Matches) -> list[tuple[int, ...]]:
    first = np.concatenate([[0], matches.members_end])
    return [tuple(matches.members[begin:end].tolist()) for begin, end in zip(first, matches.members_end, strict=False)]


def test_every_row_keeps_the_events_it_lists_behind_parts_that_list_some() -> None:
    parts = [listing((1, 2), (1, 3)), listing(()), listing((4, 5, 6)), listing((7,), (8, 9))]
    together = joined(parts)
    assert listed(together) == [(1, 2), (1, 3), (), (4, 5, 6), (7,), (8, 9)]
    assert together.index.tolist() == [2, 3, 0, 6, 7, 9]
