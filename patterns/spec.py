"""What the compiler is given: one pattern as written, with the place of every text, so that errors can point at it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

from foresail.patterns.errors import PatternRuleError, Place

DEFAULT_LIMIT = 1000
MOST_LISTED = 10_000
"""Sets of events per detection that may be asked for: all are held in memory, and there may be 2^n of them."""


class AfterMatch(Enum):
    """What becomes of the runs under way when a match is complete."""

    CONTINUE = "continue"
    RESTART = "restart"


class Output(Enum):
    """What is told of a detection: that it is one, how many sets of events made it, or which."""

    DETECT = "detect"
    COUNT = "count"
    ENUMERATE = "enumerate"


class Report(Enum):
    """Whether each detection is told, or consecutive ones merged into an episode."""

    EACH = "each"
    EPISODES = "episodes"


@dataclass(frozen=True, slots=True)
class Text:
    """A name with the text it stands for, and where that text begins."""

    name: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True)
class PatternSpec:
    """One pattern, ready to be compiled."""

    name: str
    pattern: Text
    where: tuple[Text, ...] = ()
    features: tuple[Text, ...] = ()
    version: int = 1
    parameters: Mapping[str, bool | int | float | str] = field(default_factory=dict)
    exclusive: tuple[tuple[str, ...], ...] = ()
    window_us: int | None = None
    window_events: int | None = None
    max_gap_us: int | None = None
    after_match: AfterMatch = AfterMatch.CONTINUE
    output: Output = Output.DETECT
    report: Report = Report.EACH
    min_dwell_us: int = 0
    limit: int = DEFAULT_LIMIT
    family: str | None = None
    """The name by which conditions call the feature of a pattern family: `port` in `port.distance_m`."""

    def __post_init__(self) -> None:
        for name, value in (("window", self.window_us), ("window", self.window_events), ("max_gap", self.max_gap_us)):
            if value is not None and value <= 0:
                msg = f"{self.pattern.place}: {name} of {self.name} is not above zero. Nothing fits in: leave it out."
                raise PatternRuleError(msg)
        if self.output is not Output.DETECT and self.report is Report.EPISODES:
            msg = f"{self.pattern.place}: report: episodes goes with output: detect, not {self.output.value}. Drop one."
            raise PatternRuleError(msg)
        if self.family and self.output is not Output.DETECT:
            msg = f"{self.pattern.place}: for_each goes with output: detect, not {self.output.value}. Drop one."
            raise PatternRuleError(msg)
        if self.min_dwell_us and self.report is not Report.EPISODES:
            msg = f"{self.pattern.place}: min_dwell measures episodes. Add report: episodes."
            raise PatternRuleError(msg)
        if self.limit > MOST_LISTED:
            msg = f"{self.pattern.place}: limit of {self.name} is {self.limit}; {MOST_LISTED} are the most. Lower it."
            raise PatternRuleError(msg)
        if self.limit < 1:
            msg = f"{self.pattern.place}: limit of {self.name} is {self.limit}. At least one set must be listed."
            raise PatternRuleError(msg)


def without_features(spec: PatternSpec) -> PatternSpec:
    """The spec for recognition alone, which then needs no attribute that only forecasting reads."""
    named = {text.name for text in spec.where}
    groups = tuple(tuple(name for name in group if name in named) for group in spec.exclusive)
    return replace(spec, features=(), exclusive=tuple(group for group in groups if len(group) > 1))


def spec_of(name: str, pattern: str, where: Mapping[str, str] | None = None, **rules: object) -> PatternSpec:
    """A spec from plain texts, for patterns written in code."""
    conditions = tuple(Text(n, t, Place(f"{name}.where.{n}")) for n, t in (where or {}).items())
    return PatternSpec(name, Text("pattern", pattern, Place(name)), conditions, **rules)  # type: ignore[arg-type]
