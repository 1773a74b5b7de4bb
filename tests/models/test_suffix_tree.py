"""The suffix tree keeps the contexts that tell something, and only those.

The automaton over the contexts always knows the longest one that ends the history.
"""

from dataclasses import replace
from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.models.counts.counting import stretches_of
from foresail.models.counts.table import Counts, Level
from foresail.models.errors import ModelSettingError, ModelSizeError
from foresail.models.identity import Identity
from foresail.models.suffix_tree import MOST_SMOOTHED, LearnSettings, SuffixTree, context_automaton, learn
from tests.models.letters import counted_alone, counts_of_text, plain_counts
from tests.models.random_trees import longest_suffix, random_tree


def contexts(tree: SuffixTree) -> set[tuple[int, ...]]:
    return {tree.context(row) for row in range(len(tree.lengths))}


def test_abracadabra_as_published() -> None:
    """Figure 5 of Begleiter, El-Yaniv and Yona (2004)."""
    counts = counts_of_text("ABRACADABRA", "ABCDR", max_order=12)
    tree = learn(counts, LearnSettings(order=12, alpha=0.01))
    found = {
        "".join("ABCDR"[symbol] for symbol in tree.context(row)): dict(
            zip("ABCDR", tree.distribution[row], strict=True)
        )
        for row in range(len(tree.lengths))
    }
    assert set(found) == {"", "A", "B", "C", "D", "R", "CA", "DA", "RA"}
    golden = {
        "": {"A": 0.45, "B": 0.183, "C": 0.092, "D": 0.092, "R": 0.183},
        "A": {"A": 0.001, "B": 0.498, "C": 0.25, "D": 0.25, "R": 0.001},
        "B": {"R": 0.996},
        "C": {"A": 0.996},
        "D": {"A": 0.996},
        "R": {"A": 0.996},
        "CA": {"D": 0.996},
        "DA": {"B": 0.996},
        "RA": {"C": 0.996},
    }
    for context, expected in golden.items():
        for letter, probability in expected.items():
            assert found[context][letter] == pytest.approx(probability, abs=0.005), (context, letter)


def plainly_learned(track: list[int], symbols: int, chosen: LearnSettings) -> set[tuple[int, ...]]:
    """The kept contexts by the sentences of the definition, one at a time, in fractions: nothing is rounded."""
    limit, symbol_limit, ratio, alpha = (
        Fraction(str(value))
        for value in (chosen.min_context_probability, chosen.min_symbol_probability, chosen.ratio, chosen.alpha)
    )
    held = plain_counts([track], chosen.order + 1)
    windows = [max(len(track) - length + 1, 0) for length in range(chosen.order + 2)]

    def following(context: tuple[int, ...]) -> list[Fraction]:
        times = [Fraction(held.get((*context, symbol), 0.0)) for symbol in range(symbols)]
        return [t / sum(times) for t in times] if sum(times) else []

    kept: set[tuple[int, ...]] = {()}
    frontier = [()]
    while frontier:
        context = frontier.pop()
        if len(context) == chosen.order:
            continue
        for older in range(symbols):
            longer = (older, *context)
            likely = Fraction(held.get(longer, 0.0)) >= limit * windows[len(longer)]
            if not likely or not following(longer):
                continue
            frontier.append(longer)
            for p, q in zip(following(longer), following(context), strict=True):
                enough = p >= (1 + alpha) * symbol_limit
                if enough and q and (p / q >= ratio or p / q <= 1 / ratio):
                    kept |= {longer[n:] for n in range(len(longer))}
    return kept


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(0, 4))
def test_contexts_follow_the_definition(seed: int, order: int) -> None:
    random = Random(seed)
    track = [random.choice([0, 0, 1, 2]) for _ in range(random.randrange(1, 60))]
    chosen = LearnSettings(order=order, min_context_probability=0.05, ratio=random.choice([1.05, 1.5]))
    counts = counted_track(track, 3, 4)
    assert contexts(learn(counts, chosen)) == plainly_learned(track, 3, chosen)


@pytest.mark.parametrize(
    ("followed", "of", "seen", "windows"), [(4, 7, 6, 10), (5, 7, 6, 8)], ids=["(4/7)/(6/10)", "(5/7)/(6/8)"]
)
def test_a_ratio_that_is_exactly_the_limit_keeps_the_context(followed: int, of: int, seen: int, windows: int) -> None:
    """Both are 20/21 = 1/1.05: symbol 1 follows symbol 0 in `followed` of `of` cases, and is `seen` in `windows`."""
    counts = counts_of_shares(followed, of, seen, windows)
    # only the fall of symbol 1 may decide: the rise of symbol 0 is not likely enough to count
    chosen = LearnSettings(order=1, min_context_probability=0.0, min_symbol_probability=0.5, ratio=1.05)
    assert (0,) in contexts(learn(counts, chosen))


def counts_of_shares(followed: int, of: int, seen: int, windows: int) -> Counts:
    first = Level(np.array([0, 1]), np.array([windows - seen, seen], dtype=np.float64))
    second = Level(np.array([0, 1]), np.array([of - followed, followed], dtype=np.float64))
    counted = counted_track([0, 1], 2, 1)
    return replace(counted, levels=(first, second))


@pytest.mark.parametrize("windows", range(100, 2100, 100))
def test_a_context_as_frequent_as_the_limit_is_kept_however_many_windows_there_are(windows: int) -> None:
    """7 of 100 are 0.07, which 64-bit numbers deny for some numbers of windows and not for others."""
    track = ([0] * 7 + [1] * 93) * (windows // 100)
    chosen = LearnSettings(order=1, min_context_probability=0.07, ratio=1.0)
    assert (0,) in contexts(learn(counted_track(track, 2, 1), chosen))
    assert (0,) not in contexts(learn(counted_track([1, *track], 2, 1), chosen))


def counted_track(track: list[int], symbols: int, max_order: int) -> Counts:
    stretches = stretches_of(np.array(track, dtype=np.int32), np.arange(len(track)), np.array([0, len(track)]), None)
    return counted_alone(Identity("track", 1, (), symbols, ""), stretches, max_order)


def test_full_order_keeps_every_context_that_was_seen() -> None:
    track = [0, 1, 0, 0, 1, 1, 0, 1]
    tree = learn(counted_track(track, 2, 3), LearnSettings(order=2, kind="full"))
    seen = {tuple(track[n : n + length]) for length in (1, 2) for n in range(len(track) - length)}
    assert contexts(tree) == {(), *seen}


def test_a_lower_order_comes_from_the_same_counts() -> None:
    counts = counts_of_text("ABRACADABRA" * 3, "ABCDR", max_order=8)
    shorter = learn(counts_of_text("ABRACADABRA" * 3, "ABCDR", max_order=2), LearnSettings(order=2))
    tree = learn(counts, LearnSettings(order=2))
    assert contexts(tree) == contexts(shorter)
    assert np.array_equal(tree.distribution, shorter.distribution)


def test_a_symbol_never_seen_keeps_its_smoothing() -> None:
    tree = learn(counts_of_text("ababab", "abc", max_order=2), LearnSettings(order=2))
    assert tree.distribution[:, 2] == pytest.approx(np.full(len(tree.lengths), 0.001))
    assert tree.distribution.sum(axis=1) == pytest.approx(np.ones(len(tree.lengths)))


def test_smoothing_gives_little_away_however_large_the_alphabet() -> None:
    tree = learn(counted_track([0, 1] * 50, 2000, 1), LearnSettings(order=1))
    assert tree.distribution[:, 2:].sum(axis=1).max() <= MOST_SMOOTHED
    assert tree.distribution.sum(axis=1) == pytest.approx(np.ones(len(tree.lengths)))


def test_an_order_beyond_the_longest_track_keeps_what_there_is() -> None:
    tree = learn(counts_of_text("aba", "ab", max_order=8), LearnSettings(order=8))
    assert max(tree.lengths) <= 2


def test_nothing_counted_makes_all_symbols_alike() -> None:
    tree = learn(counts_of_text("", "abcd", max_order=3), LearnSettings(order=3))
    assert tree.distribution.tolist() == [pytest.approx([0.25] * 4)]


def test_an_order_that_was_not_counted_is_refused() -> None:
    with pytest.raises(ModelSettingError, match="order 3 needs longer counts than the 2 symbols"):
        learn(counts_of_text("abab", "ab", max_order=2), LearnSettings(order=3))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"order": -1}, "order is -1"),
        ({"kind": "half"}, "Choose variable or full"),
        ({"ratio": 0.5}, "ratio is 0.5"),
        ({"smoothing": 1.0}, "smoothing is 1.0"),
        ({"min_context_probability": -0.1}, "min_context_probability is -0.1"),
    ],
)
def test_impossible_settings_are_refused(wrong: dict[str, object], says: str) -> None:
    with pytest.raises(ModelSettingError, match=says):
        LearnSettings(**wrong)  # type: ignore[arg-type]


def test_too_many_contexts_are_refused_with_a_way_out() -> None:
    random = np.random.default_rng(1)
    counts = counted_track(random.integers(0, 60_000, 3000).tolist(), 60_000, 2)
    with pytest.raises(ModelSizeError, match="Choose a lower order"):
        learn(counts, LearnSettings(order=2, kind="full"))


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_the_longest_kept_context_is_known_after_every_symbol(seed: int) -> None:
    random = Random(seed)
    tree = random_tree(random, 3, 4)
    automaton = context_automaton(tree)
    node, history = 0, ()
    for _ in range(50):
        assert automaton.context[node] == longest_suffix(tree, history)
        symbol = random.randrange(3)
        node, history = int(automaton.step[node, symbol]), (*history, symbol)


def test_no_context_makes_one_node() -> None:
    automaton = context_automaton(random_tree(Random(0), 3, 0))
    assert automaton.step.tolist() == [[0, 0, 0]]
    assert automaton.context.tolist() == [0]
