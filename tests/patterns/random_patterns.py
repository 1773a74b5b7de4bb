"""Random patterns and tracks for comparing recognition with the definition."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate
from random import Random

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

HERE = Place("random")
WHERE = {"a": "x < 2", "b": "1 <= x < 4", "c": "x == 3 or x == 0", "d": "x == 5"}
"""Overlapping conditions on one attribute of 0..5: some exclude each other, some hold together."""
TRUTHS: dict[str, Callable[[int], bool]] = {
    "a": lambda x: x < 2,
    "b": lambda x: 1 <= x < 4,
    "c": lambda x: x in (3, 0),
    "d": lambda x: x == 5,
}


@dataclass(frozen=True)
class Track:
    """The values of one track and the times of its events."""

    values: tuple[int, ...]
    times: tuple[int, ...]


def random_pattern(random: Random, depth: int = 3) -> Pattern:
    """Any operator at any depth."""
    if depth == 0 or random.random() < 0.25:
        return random.choice([*(Named(name, HERE) for name in WHERE), Anything(HERE)])

    def part() -> Pattern:
        return random_pattern(random, depth - 1)

    def parts(most: int = 3) -> tuple[Pattern, ...]:
        return tuple(part() for _ in range(random.randint(2, most)))

    least = random.randint(0, 2)
    makers: list[Callable[[], Pattern]] = [
        lambda: Sequence(parts()),
        lambda: Sequence(parts()),
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


def random_track(random: Random, longest: int = 7) -> Track:
    """A few events, some at the same time, some after a long silence."""
    length = random.randint(0, longest)
    times, now = [], 1_000_000_000
    for _ in range(length):
        now += random.choice([0, 1, 1, 2, 3, 10])
        times.append(now)
    return Track(tuple(random.randint(0, 5) for _ in range(length)), tuple(times))


def stretched_track(random: Random, longest: int = 60) -> Track:
    """A track on which the same is seen for a while, as at anchor or under way; now and then a long silence."""
    values: list[int] = []
    while len(values) < longest:
        values += [random.randint(0, 5)] * random.choice([1, 2, 3, 6, 12])
    times = accumulate(random.choice([0, 1, 1, 1, 1, 1, 1, 2, 10]) for _ in values)
    return Track(tuple(values), tuple(1_000_000_000 + time for time in times))


def random_rules(random: Random) -> dict[str, object]:
    """Windows of either kind or none, gaps, and what follows a match."""
    rules: dict[str, object] = {}
    kind = random.choice(["none", "none", "time", "events"])
    if kind == "time":
        rules["window_us"] = random.randint(1, 6)
    if kind == "events":
        rules["window_events"] = random.randint(1, 5)
    if random.random() < 0.4:
        rules["max_gap_us"] = random.choice([1, 2, 5])
    return rules
