"""What every recogniser promises, whatever its language: results and states depend on the events of each key alone."""

from collections.abc import Callable
from dataclasses import fields, replace
from random import Random
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from foresail.models.family_forecaster import FamilyForecaster
from foresail.models.forecaster import Forecaster
from foresail.patterns.compiler import compile_pattern
from foresail.patterns.recognition.events import EventBatch, LayerEvents, Near
from foresail.patterns.recognition.families import FamilyRecogniser
from foresail.patterns.recognition.forms import MonitorForm
from foresail.patterns.recognition.matches import Matches
from foresail.patterns.recognition.migration import progress_of
from foresail.patterns.recognition.monitor import Monitor, MonitorState
from foresail.patterns.recognition.protocol import Clock, Recogniser
from foresail.patterns.recognition.recogniser import PatternRecogniser
from foresail.patterns.recognition.register_recogniser import RegisterRecogniser
from foresail.patterns.spec import Output, Report, spec_of
from foresail.pipeline.stream.state.codec import decode, encode
from foresail.pipeline.stream.state.form import template
from tests.models.forecasting import model_of, random_text
from tests.models.letters import lettered

MINUTE = 60_000_000
GAP = 10 * MINUTE
LAYER = "ports"
WHERE = {"a": "x < 1", "b": "1 <= x < 2", "c": "2 <= x < 3"}
"""Bits 0, 1 and 2; at most one of them holds."""
EPISODES = {"max_gap_us": GAP, "report": Report.EPISODES}
PLAIN = [
    compile_pattern(spec_of("stays", "a{2,}", WHERE, **EPISODES)),  # type: ignore[arg-type]
    compile_pattern(spec_of("turns", "a ; hidden _* ; b ; c", WHERE, window_us=30 * MINUTE)),
    compile_pattern(spec_of("counts", "a ; c", WHERE, output=Output.COUNT, max_gap_us=GAP)),
    compile_pattern(spec_of("lists", "a ; b", WHERE, output=Output.ENUMERATE, window_events=5)),
]
REMEMBERS = WHERE | {"up": "v > r.v"}
MEMORY = [
    compile_pattern(spec_of("climbs", "a as r ; up", REMEMBERS, window_us=30 * MINUTE, **EPISODES)),  # type: ignore[arg-type]
    compile_pattern(spec_of("sums", "any(a as r, up)", REMEMBERS, output=Output.COUNT, window_us=20 * MINUTE)),
    compile_pattern(spec_of("keeps", "any((a as r)+, up)", REMEMBERS, output=Output.ENUMERATE, window_events=5)),
]
NEAR = {"a": "port.distance_m < 1", "b": "1 <= port.distance_m < 2", "c": "2 <= port.distance_m < 3"}
FAMILIES = [
    compile_pattern(spec_of("enters", "c ; b", NEAR, family="port")),
    compile_pattern(spec_of("lies", "b{2,}", NEAR, family="port", **EPISODES)),  # type: ignore[arg-type]
]
LETTERS = lettered("a ; b", features="c")
TEXTS = [random_text(Random(n), 80, "abcx") for n in range(4)]
MODEL = model_of(LETTERS, TEXTS, horizon=12, within=4, threshold=0.2)
RECOGNISERS: dict[str, Callable[[], Recogniser]] = {
    "patterns": lambda: PatternRecogniser(PLAIN),
    "patterns with registers": lambda: RegisterRecogniser(MEMORY),
    "families": lambda: FamilyRecogniser(FAMILIES, LAYER),
    "models": lambda: Forecaster([MODEL], emission="changes"),
    "models of families": lambda: FamilyForecaster([MODEL], layer=LAYER),
}
TRACKS = ("a", "b", "c")


def track_events(name: str, seed: int, events: int = 60) -> EventBatch:
    """One track: words of which one bit holds or none, long silences, features near some events."""
    rng = np.random.default_rng([seed, *name.encode()])
    words = rng.choice([0, 1, 2, 4], size=(events, 1), p=[0.2, 0.4, 0.2, 0.2]).astype(np.int64)
    times = np.cumsum(rng.choice([0, 1, 3, 25], size=events, p=[0.1, 0.5, 0.3, 0.1])).astype(np.int64) * MINUTE
    close = [sorted(rng.choice(4, size=n, replace=False).tolist()) for n in rng.integers(0, 3, events)]
    at = np.cumsum([0, *map(len, close)]).astype(np.int64)
    feature = np.array([f for some in close for f in some], dtype=np.int32)
    near = Near(at, feature, rng.choice([1, 2, 4], size=(len(feature), 1)).astype(np.int64))
    layers = {LAYER: LayerEvents(np.zeros((events, 1), dtype=np.int64), near, ("w", "x", "y", "z"))}
    values = {"value:v": rng.choice([1.0, 2.0, 3.0, np.nan], size=events)}
    return EventBatch(words, times, np.array([0, events]), pa.array([name]), values, layers)


def together(parts: list[EventBatch]) -> EventBatch:
    """Several tracks as one batch."""
    own, layers = parts[0], parts[0].layers[LAYER]
    for other in parts[1:]:
        layers = layers.followed_by(other.layers[LAYER])
    sizes = [len(part) for part in parts]
    return replace(
        own,
        words=np.concatenate([part.words for part in parts]),
        times=np.concatenate([part.times for part in parts]),
        first_of=np.cumsum([0, *sizes]).astype(np.int64),
        keys=pa.concat_arrays([part.keys for part in parts]),
        columns={name: np.concatenate([part.columns[name] for part in parts]) for name in own.columns},
        layers={LAYER: layers},
    )


def rows(results: Any, begins: dict[str, int], events: EventBatch) -> list[tuple[Any, ...]]:
    """What was found, by track and the place of the event in it, however the batch was made."""
    keys = events.keys_at(results.event)
    names = [events.keys[int(key)].as_py() for key in keys]
    place = [int(e - events.first_of[k]) + begins[n] for e, k, n in zip(results.event, keys, names, strict=True)]
    if isinstance(results, Matches):
        own = [f.name for f in fields(Matches) if f.name not in ("event", "members", "members_end", "given_up")]
        ends = np.concatenate([[0], results.members_end])
        listed = [tuple(results.members[ends[n] : ends[n + 1]].tolist()) for n in range(len(results))]
    else:
        own, listed = ["feature", "said", "index"], [()] * len(results)
    values = [getattr(results, name).tolist() for name in own]
    return sorted(zip(names, place, listed, *values, strict=True))


def whole_track(make: Callable[[], Recogniser], name: str, seed: int) -> list[tuple[Any, ...]]:
    recogniser, events = make(), track_events(name, seed)
    results, _ = recogniser.advance(events, recogniser.fresh(1))
    return rows(results, {name: 0}, events)


@pytest.fixture(params=RECOGNISERS)
def make(request: pytest.FixtureRequest) -> Callable[[], Recogniser]:
    return RECOGNISERS[request.param]


@pytest.mark.parametrize("seed", range(6))
def test_cut_anywhere_beside_other_keys_and_through_bytes_it_finds_the_same(
    make: Callable[[], Recogniser], seed: int
) -> None:
    recogniser, random = make(), Random(seed)
    expected = sorted(row for name in TRACKS for row in whole_track(make, name, seed))
    assert expected, "a contract over nothing shows nothing"
    whole = {name: track_events(name, seed) for name in TRACKS}
    known: list[str] = []
    begins = dict.fromkeys(TRACKS, 0)
    state = recogniser.fresh(0)
    found: list[tuple[Any, ...]] = []
    while any(begins[name] < len(whole[name]) for name in TRACKS):
        some = [name for name in TRACKS if begins[name] < len(whole[name]) and random.random() < 0.8]
        if not some:
            continue
        random.shuffle(some)
        ends = {name: min(len(whole[name]), begins[name] + random.randint(1, 25)) for name in some}
        events = together([whole[name].slice(begins[name], ends[name]) for name in some])
        places = np.array([known.index(name) if name in known else -1 for name in some])
        results, after = recogniser.advance(events, recogniser.rearranged(state, places))
        found += rows(results, begins, events)
        begins |= ends
        # the others first, then those just read: as a bucket keeps them, and through the bytes of its state store
        rest = [name for name in known if name not in some]
        monitor = Monitor([recogniser])
        kept = recogniser.rearranged(state, np.array([known.index(name) for name in rest], dtype=np.int64))
        times = (np.zeros(len(rest), dtype=np.int64), np.zeros(len(some), dtype=np.int64))
        joined = monitor.joined([MonitorState(times[0], (kept,)), MonitorState(times[1], (after,))])
        (state,) = decode(encode(joined), MonitorState(times[0][:0], (template(recogniser.form),))).parts
        known = [*rest, *some]
    assert sorted(found) == expected


@pytest.mark.parametrize("seed", range(3))
def test_a_catalog_that_is_the_same_goes_on_where_it_was(make: Callable[[], Recogniser], seed: int) -> None:
    first, second, events = make(), make(), track_events("a", seed)
    expected = whole_track(make, "a", seed)
    results, state = first.advance(events.slice(0, 30), first.fresh(1))
    found = rows(results, {"a": 0}, events.slice(0, 30))
    migrated = second.migrated(state, first.form, lambda _pattern, _version: MODEL)
    results, _ = second.advance(events.slice(30, 60), migrated)
    assert sorted(found + rows(results, {"a": 30}, events.slice(30, 60))) == expected


def test_one_that_joins_later_counts_events_from_the_first(make: Callable[[], Recogniser]) -> None:
    other, events = PatternRecogniser(PLAIN[:1]), track_events("a", 1)
    _, read = other.advance(events.slice(0, 30), other.fresh(1))
    recogniser = make()
    results, _ = recogniser.advance(events.slice(30, 60), recogniser.joining(progress_of((read,))))
    alone, _ = recogniser.advance(events.slice(30, 60), recogniser.fresh(1))
    assert len(results), "a contract over nothing shows nothing"
    assert results.index.min() > 30
    assert alone.index.min() <= 30


def test_nobody_gets_another_ones_state_and_fresh_is_fresh(make: Callable[[], Recogniser]) -> None:
    recogniser, events = make(), track_events("b", 2)
    _, state = recogniser.advance(events, recogniser.fresh(1))
    arranged = recogniser.rearranged(state, np.array([-1, 0, -1]))
    fresh = recogniser.fresh(1)
    for row in (0, 2):
        again = recogniser.rearranged(arranged, np.array([row]))
        results, _ = recogniser.advance(events, again)
        expected, _ = recogniser.advance(events, fresh)
        assert rows(results, {"b": 0}, events) == rows(expected, {"b": 0}, events)


def test_a_clock_closes_what_the_next_event_would_and_the_state_stays(make: Callable[[], Recogniser]) -> None:
    recogniser, emitted, runs = make(), 0, 0
    for seed in range(80):
        events = track_events("c", seed)
        _, state = recogniser.advance(events, recogniser.fresh(1))
        before = encode(MonitorState(events.times[-1:], (state,)))
        end = int(events.times[-1])
        closed = recogniser.expired(state, Clock(end, end + 2 * GAP), np.array([False]))
        assert encode(MonitorState(events.times[-1:], (state,))) == before
        emitted += 0 if closed is None else len(closed)
        later = recogniser.expired(state, Clock(end + 2 * GAP, end + 4 * GAP), np.array([False]))
        assert later is None or not len(later), "a clock closes an episode once"
        runs += recogniser.runs(state)
    if recogniser.form.kind in ("patterns", "memory", "families"):
        assert emitted, "some track ends inside an episode"
        assert runs, "some track ends within a run"


def test_a_monitor_carries_all_of_them_to_another_catalog() -> None:
    every = [make() for make in RECOGNISERS.values()]
    before = Monitor(every[:3])
    events = track_events("a", 3)
    _, state = before.advance(events.slice(0, 30), before.fresh(1))
    after = Monitor([make() for make in RECOGNISERS.values()])
    moved = after.migrated(state, before.form, lambda _pattern, _version: None)
    findings, _ = after.advance(events.slice(30, 60), moved)
    assert [finding.kind for finding in findings] == ["match", "match", "match", "forecast", "forecast"]
    for finding, make in zip(findings[:3], RECOGNISERS.values(), strict=False):
        alone = make()
        _, own = alone.advance(events.slice(0, 30), alone.fresh(1))
        expected, _ = alone.advance(events.slice(30, 60), own)
        late = events.slice(30, 60)
        assert rows(finding.results, {"a": 30}, late) == rows(expected, {"a": 30}, late)
    assert after.form == MonitorForm(tuple(part.form for part in after.recognisers))
