"""The plain Python reference and the kernel find the same, episodes and dwell included."""

from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from foresail.patterns.compiler import compile_pattern
from foresail.patterns.errors import CannotMatchError, StateExplosionError
from foresail.patterns.language.syntax import pattern_text
from foresail.patterns.recognition.reference import Event, Finding, recognise
from foresail.patterns.recognition.tables import MOST_TRACKED_RUNS
from foresail.patterns.spec import AfterMatch, Report, spec_of
from tests.patterns.random_patterns import TRUTHS, WHERE, random_pattern, random_rules, random_track, stretched_track
from tests.patterns.running import run


@settings(max_examples=120, deadline=None)
@given(st.integers(0, 2**32))
def test_the_reference_finds_what_the_kernel_finds(seed: int) -> None:
    random = Random(seed)
    rules = random_rules(random) | {"after_match": random.choice(list(AfterMatch))}
    if random.random() < 0.6:
        rules |= {"report": Report.EPISODES, "min_dwell_us": random.choice([0, 2, 4])}
    try:
        pattern = compile_pattern(spec_of("p", pattern_text(random_pattern(random)), WHERE, **rules))
    except (CannotMatchError, StateExplosionError):
        return
    if pattern.nfa.states > MOST_TRACKED_RUNS:
        return
    track = random_track(random, 25) if random.random() < 0.4 else stretched_track(random)
    held = [{name: holds(x) for name, holds in TRUTHS.items()} for x in track.values]
    codes = [sum(event[name] << bit for bit, name in enumerate(pattern.condition_names)) for event in held]
    events = [Event(pattern.alphabet.symbol_of(code), time) for code, time in zip(codes, track.times, strict=True)]
    plain = sorted(recognise(pattern, events), key=lambda f: (f.index, f.status))
    found = [
        Finding(f.status, f.index, f.time, f.start_time, f.first_start_time)
        for f in run([pattern], [held], [track.times])
    ]
    assert plain == found


def test_an_episode_opens_once_it_has_lasted_and_closes_at_the_first_other_event() -> None:
    pattern = compile_pattern(spec_of("p", "a", {"a": "x"}, report=Report.EPISODES, min_dwell_us=2, max_gap_us=10))
    held = [{"a": x == "a"} for x in "aaaabaaa"]
    times = [0, 1, 2, 3, 4, 5, 7, 30]
    rows = run([pattern], [held], [times])
    assert [(f.status, f.index, f.start_time) for f in rows] == [
        ("opened", 3, 0), ("closed", 4, 0), ("updated", 4, 0), ("opened", 7, 5), ("timed_out", 7, 5),
    ]  # fmt: skip
    assert len({f.identity for f in rows}) == 2
