"""Random patterns with registers and tracks with nulls, for comparing recognition with the definition."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from random import Random
from typing import Any

from foresail.patterns.errors import Place
from foresail.patterns.language.syntax import (
    Absent,
    Anything,
    Both,
    Choice,
    Each,
    Hidden,
    Named,
    Not,
    Pattern,
    Repeat,
    Sequence,
    SkipTillAny,
    SkipTillNext,
)
from tests.patterns.denotation import Event, Test

HERE = Place("random")
REGISTERS = ("r", "s")


def _pair(one: str, other: str, holds: Callable[[Any, Any], bool]) -> Test:
    """An atom over an attribute of the event and one of what a register holds: false where either is unknown."""
    register, name = other.split(".")

    def test(event: Event, held: Mapping[str, Event]) -> bool:
        if register not in held or event[one] is None or held[register][name] is None:
            return False
        return holds(event[one], held[register][name])

    return test


def _both_registers(event: Event, held: Mapping[str, Event]) -> bool:
    if len(held) < len(REGISTERS):
        return False
    values = [event["v"], held["r"]["v"], held["s"]["v"]]
    return None not in values and values[0] - values[1] > values[2] - 2


RISES = _pair("v", "r.v", lambda v, r: v > r)
CONDITIONS: dict[str, tuple[str, Test]] = {
    "low": ("x < 2", lambda e, _: e["x"] is not None and e["x"] < 2),
    "mid": ("1 <= x < 4", lambda e, _: e["x"] is not None and 1 <= e["x"] < 4),
    "odd": ("x == 3 or x == 0", lambda e, _: e["x"] in (3, 0)),
    "rises": ("v > r.v", RISES),
    "stays": ("not (v > r.v)", lambda e, h: not RISES(e, h)),
    "alike": ("k == s.k", _pair("k", "s.k", lambda k, s: k == s)),
    "soon": ("seconds_since(r) <= 2", _pair("time", "r.time", lambda now, then: (now - then) / 1e6 <= 2)),
    "near": ("abs(v - s.v) < 2 and x < 4", lambda e, h: e["x"] is not None and e["x"] < 4 and _close(e, h)),
    "either": ("x == 1 or v < s.v", lambda e, h: e["x"] == 1 or _pair("v", "s.v", lambda v, s: v < s)(e, h)),
    "lost": ("r.v is unknown", lambda _, h: "r" not in h or h["r"]["v"] is None),
    "twice": ("v - r.v > s.v - 2", _both_registers),
    "same": ("x == r.x", _pair("x", "r.x", lambda x, r: x == r)),
}
WHERE = {name: text for name, (text, _) in CONDITIONS.items()}
TESTS: dict[str, Test] = {name: test for name, (_, test) in CONDITIONS.items()}


def _close(event: Event, held: Mapping[str, Event]) -> bool:
    return _pair("v", "s.v", lambda v, s: abs(v - s) < 2)(event, held)


def random_pattern(random: Random, depth: int = 3) -> Pattern:
    """Any operator at any depth; half of the events are kept in a register."""
    if depth == 0 or random.random() < 0.25:
        register = random.choice([None, None, *REGISTERS])
        terminal = random.choice([*(Named(name, HERE) for name in WHERE), Anything(HERE)])
        return replace(terminal, register=register)

    def part() -> Pattern:
        return random_pattern(random, depth - 1)

    def parts(most: int = 3) -> tuple[Pattern, ...]:
        return tuple(part() for _ in range(random.randint(2, most)))

    least = random.randint(0, 2)
    makers: list[Callable[[], Pattern]] = [
        lambda: Sequence(parts()),
        lambda: Sequence(parts()),
        lambda: Sequence(parts(4)),
        lambda: Choice(parts()),
        lambda: Both(parts(2)),
        lambda: Each(parts(2)),
        lambda: Repeat(part(), least, random.choice([None, least + random.randint(0, 2)])),
        lambda: SkipTillAny(parts()),
        lambda: SkipTillAny((Repeat(part(), least, random.choice([None, least + 1])),)),
        lambda: SkipTillNext(parts()),
        lambda: SkipTillNext((Repeat(part(), least, random.choice([None, least + 1])),)),
        lambda: Not(part()),
        lambda: Absent(part()),
        lambda: Hidden(part()),
    ]
    return random.choice(makers)()


def random_track(random: Random, longest: int = 7) -> list[dict[str, Any]]:
    """A few events, some at the same time, some after a silence; attributes are null here and there."""
    events, now = [], 1_000_000_000
    for _ in range(random.randint(0, longest)):
        now += random.choice([0, 1, 1, 2, 3, 10]) * 1_000_000
        values: dict[str, Any] = {
            "x": random.randint(0, 4),
            "v": random.choice([0.0, 1.0, 1.5, 2.0, 3.0, 5.0]),
            "k": random.choice("abc"),
        }
        events.append({name: None if random.random() < 0.08 else v for name, v in values.items()} | {"time": now})
    return events
