"""Patterns with registers against the definition: random patterns of all operators, random tracks, windows and cuts."""

import os
from dataclasses import dataclass, replace
from random import Random

import pytest

from foresail.patterns.compiler import CompiledPattern, compile_pattern
from foresail.patterns.errors import PatternError
from foresail.patterns.language.parser import parse_pattern
from foresail.patterns.language.syntax import pattern_text
from foresail.patterns.spec import AfterMatch, Output, spec_of
from tests.patterns.denotation import Matches, Rules, matches_of
from tests.patterns.random_memory import HERE, TESTS, WHERE, random_pattern, random_track
from tests.patterns.remembering import SCHEMA, Found, Track, run

PAIRS = int(os.environ.get("FORESAIL_REGISTER_PAIRS", "400"))
"""Patterns and tracks per seed; more of them when asked for."""
TRACKS = 4


@dataclass(frozen=True)
class Case:
    """A pattern that compiles, and the rules it runs with."""

    pattern: CompiledPattern
    rules: Rules

    def expected(self, track: Track) -> Matches:
        names = self.pattern.memory.registers if self.pattern.memory else ()
        times = [event["time"] for event in track]
        tree = parse_pattern(self.pattern.spec.pattern.text, HERE)
        return matches_of(tree, track, times, TESTS, names, self.rules)

    def reported(self, output: Output) -> CompiledPattern:
        return compile_pattern(replace(self.pattern.spec, output=output), SCHEMA)


def random_case(random: Random) -> Case | None:
    """None where the pattern is refused: it can never match, or writes one register on both sides of `&`."""
    rules = Rules(
        *random.choice([(None, 4), (None, 7), (3_000_000, None), (20_000_000, None), (5_000_000, 5)]),
        random.choice([None, None, 4_000_000]),
        random.random() < 0.2,
    )
    text = pattern_text(random_pattern(random))
    after = AfterMatch.RESTART if rules.restart else AfterMatch.CONTINUE
    spec = spec_of(
        "random", text, WHERE, output=Output.ENUMERATE, window_us=rules.window_us, limit=10_000,
        window_events=rules.window_events, max_gap_us=rules.max_gap_us, after_match=after,
    )  # fmt: skip
    try:
        return Case(compile_pattern(spec, SCHEMA), rules)
    except PatternError:
        return None


def listed(rows: list[Found]) -> dict[int, dict[frozenset[int], tuple[int, ...]]]:
    found: dict[int, dict[frozenset[int], tuple[int, ...]]] = {}
    for row in rows:
        here = found.setdefault(row.index, {})
        assert frozenset(row.events) not in here, "a set is listed once"
        here[frozenset(row.events)] = row.registers
    return found


def check(case: Case, tracks: list[Track], random: Random) -> bool:
    """Compare all outputs with the definition; whether anything was found."""
    text = case.pattern.spec.pattern.text
    cut = sorted(random.sample(range(9), random.randint(0, 3)))
    expected = [case.expected(track) for track in tracks]
    rows = run(case.pattern, tracks, cut)
    for n, track in enumerate(tracks):
        found = listed([row for row in rows if row.track == n])
        best = {k: {marks: max(held) for marks, held in sets.items()} for k, sets in expected[n].items()}
        assert found == best, (text, case.rules, track)
    counted = run(case.reported(Output.COUNT), tracks, cut)
    counts = [(n, k, len(sets)) for n, some in enumerate(expected) for k, sets in some.items()]
    assert [(row.track, row.index, row.count) for row in counted] == counts, (text, case.rules, tracks)
    detected = run(case.reported(Output.DETECT), tracks, cut)
    assert [(row.track, row.index) for row in detected] == [(n, k) for n, k, _ in counts], (text, case.rules, tracks)
    if case.pattern.memory is not None:
        for row in detected:
            sets = expected[row.track][row.index]
            latest = max(min(marks) for marks in sets)
            held = max(valuation for marks, some in sets.items() if min(marks) == latest for valuation in some)
            times = [event["time"] for event in tracks[row.track]]
            first = min(min(marks) for marks in sets)
            assert (row.registers, row.start_time, row.first_start_time) == (held, times[latest - 1], times[first - 1])
    return any(expected)


@pytest.mark.parametrize("seed", range(2))
def test_random_patterns_find_what_the_definition_says(seed: int) -> None:
    random, pairs, with_memory, matched = Random(seed), 0, 0, 0
    while pairs < PAIRS:
        case = random_case(random)
        if case is None:
            continue
        tracks: list[Track] = [random_track(random) for _ in range(TRACKS)]
        matched += check(case, tracks, random)
        pairs += TRACKS
        with_memory += TRACKS * (case.pattern.memory is not None)
    assert matched > PAIRS / TRACKS / 3
    assert with_memory > PAIRS / 3
