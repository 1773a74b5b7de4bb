import numpy as np

from patterns.compiler import CompiledPattern, compile_pattern
from patterns.recognition.adoption import adopted, same_pattern
from patterns.recognition.recogniser import Batch, Recogniser
from patterns.spec import Output, spec_of

CONDITIONS = {"a": "x < 1", "b": "x >= 5"}


def pattern(name: str, text: str, **rules: object) -> CompiledPattern:
    return compile_pattern(spec_of(name, text, CONDITIONS, **rules))


ONE = pattern("one", "a ; b")
COUNTED = pattern("counted", "any(a, b)", output=Output.COUNT)
CHANGED = pattern("one", "a ; a ; b", version=2)
OTHER = pattern("other", "b ; a")


def batch(words: list[int], first: int = 0) -> Batch:
    times = np.arange(first, first + len(words), dtype=np.int64) * 1_000_000
    return Batch(np.array(words, dtype=np.int64).reshape(-1, 1), times, np.array([0, len(words)]))


def indices(before: list[CompiledPattern], after: list[CompiledPattern]) -> dict[str, list[int]]:
    """Where each pattern of `after` is found when it takes over from `before` between the events a and b."""
    first = Recogniser(before, ONE.conditions)
    _, state = first.advance(batch([1]), first.fresh(1))
    second = Recogniser(after, ONE.conditions)
    matches, _ = second.advance(batch([2, 1, 1, 2], 1), adopted(state, first, second))
    names = [second.patterns[p].name for p in matches.pattern]
    return {name: matches.index[[n == name for n in names]].tolist() for name in dict.fromkeys(names)}


def test_an_unchanged_pattern_goes_on_where_it_stood_wherever_it_stands_in_the_catalog() -> None:
    assert indices([ONE, COUNTED], [OTHER, COUNTED, ONE]) == {"other": [3], "one": [2, 5], "counted": [2, 5]}


def test_a_changed_pattern_begins_afresh_but_counts_events_from_the_first() -> None:
    assert not same_pattern(ONE, CHANGED)
    assert indices([ONE], [CHANGED]) == {"one": [5]}


def test_a_pattern_read_again_from_another_file_is_the_same() -> None:
    assert same_pattern(ONE, pattern("one", "a ; b"))
    assert not same_pattern(ONE, pattern("one", "a ; b", window_us=5_000_000))
