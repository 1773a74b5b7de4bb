from typing import Any

import numpy as np

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.recognition.events import EventBatch, Near
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.family_states import FamilyStates
from foresail.patterns.recognition.forms import form_of
from foresail.patterns.recognition.matches import STATUS
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.spec import Output, Report, spec_of
from tests.patterns.layered import LAYER, beside

CONDITIONS = {"a": "x < 1", "b": "x >= 5"}


def pattern(name: str, text: str, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of(name, text, CONDITIONS, **rules))


ONE = pattern("one", "a ; b")
COUNTED = pattern("counted", "any(a, b)", output=Output.COUNT)
CHANGED = pattern("one", "a ; a ; b", version=2)
OTHER = pattern("other", "b ; a")


def batch(words: list[int], first: int = 0) -> EventBatch:
    times = np.arange(first, first + len(words), dtype=np.int64) * 1_000_000
    return EventBatch(np.array(words, dtype=np.int64).reshape(-1, 1), times, np.array([0, len(words)]))


def indices(before: list[CompiledPattern], after: list[CompiledPattern]) -> dict[str, list[int]]:
    """Where each pattern of `after` is found when it takes over from `before` between the events a and b."""
    first = PatternRecogniser(before, ONE.conditions)
    _, state = first.advance(batch([1]), first.fresh(1))
    second = PatternRecogniser(after, ONE.conditions)
    matches, _ = second.advance(batch([2, 1, 1, 2], 1), second.migrated(state, first.form))
    names = [second.patterns[p].name for p in matches.pattern]
    return {name: matches.index[[n == name for n in names]].tolist() for name in dict.fromkeys(names)}


def test_an_unchanged_pattern_goes_on_where_it_stood_wherever_it_stands_in_the_catalog() -> None:
    assert indices([ONE, COUNTED], [OTHER, COUNTED, ONE]) == {"other": [3], "one": [2, 5], "counted": [2, 5]}


def test_a_changed_pattern_begins_afresh_but_counts_events_from_the_first() -> None:
    assert form_of(ONE) != form_of(CHANGED)
    assert indices([ONE], [CHANGED]) == {"one": [5]}


def test_a_pattern_read_again_from_another_file_is_the_same() -> None:
    assert form_of(ONE) == form_of(pattern("one", "a ; b"))
    assert form_of(ONE) != form_of(pattern("one", "a ; b", window_us=5_000_000))


NEAR_PORT = {"out": "port.distance_m >= 5", "inside": "port.distance_m < 5"}
OUT, INSIDE = 1, 2
"""Words of the conditions of families; far from a port is out of it."""


def family(name: str, text: str, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of(name, text, NEAR_PORT, family="port", **rules))


ENTERS = family("enters", "out ; inside")
LIES = family("lies", "inside{2,}", report=Report.EPISODES)


def near(*words: dict[int, int]) -> Near:
    """For each event the word that holds near each feature."""
    at = np.cumsum([0, *map(len, words)])
    feature = np.array([number for some in words for number in some], dtype=np.int32)
    values = np.array([word for some in words for word in some.values()], dtype=np.int64)
    return Near(at, feature, values.reshape(-1, 1))


def read_by(reader: FamilyRecogniser, state: FamilyStates, first: int, *words: dict[int, int]) -> Any:
    times = np.arange(first, first + len(words), dtype=np.int64) * 1_000_000
    far = np.full((len(words), 1), OUT, dtype=np.int64)
    return reader.advance(beside(EventBatch(far, times, np.array([0, len(words)])), near(*words)), state)


def test_a_family_with_runs_under_way_goes_on_feature_by_feature_in_a_new_catalog() -> None:
    changed = family("enters", "out ; out ; inside", version=2)
    first = FamilyRecogniser([ENTERS, LIES], LAYER, ENTERS.conditions)
    events: list[dict[int, int]] = [{0: OUT, 1: INSIDE}, {0: OUT, 1: INSIDE}, {0: INSIDE, 1: INSIDE}, {0: INSIDE}]
    _, state = read_by(first, first.fresh(1), 0, *events[:2])
    assert state.rows_at[-1] > 1, "a feature that is not as the far ones are"
    for after in ([ENTERS, LIES], [changed, LIES, ENTERS], [LIES, changed]):
        second = FamilyRecogniser(after, LAYER, ENTERS.conditions)
        taken = second.migrated(state, first.form)
        assert taken.states.seen.tolist() == state.states.seen[: state.rows_at[-1]].tolist() == [2] * state.rows_at[-1]
        matches, _ = read_by(second, taken, 2, *events[2:])
        columns = (matches.pattern, matches.feature, matches.index, matches.start_time, matches.status)
        found = {
            (after[p].name, after[p].version, int(f), int(i), int(start), STATUS[status])
            for p, f, i, start, status in zip(*columns, strict=True)
        }
        entered = {("enters", 1, 0, 3, 1_000_000, "detected")} if ENTERS in after else set()
        assert {row for row in found if row[0] == "enters"} == entered
        lying = {(row[2], row[3], row[5]) for row in found if row[0] == "lies"}
        assert lying == {(1, 3, "updated"), (1, 3, "closed"), (0, 4, "opened")}
