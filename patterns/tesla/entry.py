"""A rule set as an entry of the catalog: its rules, what makes events of rows, and its options."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field, field_validator

from foresail.bounded_yaml import YamlError, bounded_text
from foresail.patterns.catalog.entry import Duration, check_name
from foresail.patterns.catalog.languages import LanguageEntry, Section
from foresail.patterns.catalog.nodes import CatalogError, PlacedText
from foresail.patterns.conditions import Condition, parse_condition
from foresail.patterns.durations import parse_duration, say_duration
from foresail.patterns.errors import Place
from foresail.patterns.tesla.drawing import draw_rules_dot, draw_rules_svg
from foresail.patterns.tesla.plan import TICK, RulePlan, Selection, Ties, compile_rules
from foresail.patterns.tesla.syntax import Condition as Compared
from foresail.patterns.tesla.syntax import Negation, Positive, Rule, Within

FILE = ".tesla"
MATCHES = "match of "
"""How a type says that its events are the matches of a pattern."""


class TeslaEntry(LanguageEntry):
    """One set of TESLA rules."""

    TEXT: ClassVar[str] = "rules"

    language: Literal["tesla"] = "tesla"
    rules: str = Field(min_length=1, description="The rules, or the name of a .tesla file beside the entry.")
    types: dict[str, str] = Field(
        default_factory=dict,
        description="By the name of a type the condition that makes a row an event of it, or 'match of PATTERN'; "
        "without it the column `type` decides.",
    )
    ties: Ties = Field("strict", description="What is before what at one instant: nothing, or what came first.")
    selection: Selection = Field(
        "local", description="Whether last and first choose before negations and deeper clauses, or after them."
    )
    tick: Duration | None = Field(None, description="Make an event Tick every so often in event time: 60s.")

    @field_validator("types")
    @classmethod
    def _usable_types(cls, types: dict[str, str]) -> dict[str, str]:
        for name in types:
            check_name(name, "a type")
            if name == TICK:
                msg = "'Tick' is the type that tick: makes. Choose another name."
                raise ValueError(msg)
        return types

    @property
    def tick_us(self) -> int | None:
        """How often a Tick comes, in microseconds."""
        return None if self.tick is None else parse_duration(self.tick)

    def text(self) -> PlacedText:
        """The rules with their place; those of their file where the entry names one."""
        held = self.placed("rules")
        name = self.rules.strip()
        if not name.endswith(FILE) or len(name.split()) > 1:
            return held
        file = Path(held.place.name).parent / name
        try:
            return PlacedText(bounded_text(file, str(file)), Place(str(file)))
        except YamlError as error:
            raise CatalogError(str(error)) from None
        except OSError as error:
            msg = f"{held.place}: {file} cannot be read ({error.strerror}). Name a file beside the entry."
            raise CatalogError(msg) from None

    def plan(self) -> RulePlan:
        """The rules, compiled; raises `PatternError` where that cannot be."""
        written = self.text()
        declared: dict[str, Place] | None = None
        if self.types:
            declared = {name: self.placed("types", name).place for name in self.types}
            declared |= {TICK: written.place} if self.tick else {}
        return compile_rules(written.text, written.place, self.name, self.ties, self.selection, declared)

    def conditions(self) -> Mapping[str, Condition]:
        """By the name of a type what makes a row an event of it."""
        found = {}
        for name, text in self.types.items():
            if not text.startswith(MATCHES):
                written = self.placed("types", name)
                found[name] = parse_condition(written.text, written.place)
        return found

    def matched(self) -> Mapping[str, str]:
        """By the name of a type the pattern whose matches are its events."""
        return {
            name: text.removeprefix(MATCHES).strip() for name, text in self.types.items() if text.startswith(MATCHES)
        }

    def reads_patterns(self) -> Sequence[str]:
        """The patterns whose matches are events."""
        return tuple(dict.fromkeys(self.matched().values()))

    def check(self) -> Sequence[str]:
        """Compile it; notes are types that nothing reads, and rules that cannot run in parallel."""
        plan = self.plan()
        self.conditions()
        notes = [
            f"{self.name}: types has '{name}', which no rule reads." for name in self.types if name not in plan.read
        ]
        if TICK in plan.read and not self.tick and not self.types:
            notes.append(f"{self.name}: rules read '{TICK}'. Say how often one comes: tick: 60s.")
        return notes

    def sections(self) -> Iterable[Section]:
        """Rules with their keys, the types that are read, and the options."""
        plan = self.plan()
        keyed = {number for group in plan.groups if group.keys is not None for number in group.rules}
        yield "Composites", [(rule.name, _said(rule)) for rule in plan.rules]
        yield (
            "Keys",
            [
                (rule.name, _key(key, number in keyed))
                for number, (rule, key) in enumerate(zip(plan.resolved, plan.keys, strict=True))
            ],
        )
        told = {**dict.fromkeys(plan.read, "rows whose column type is this name"), **self.types}
        if self.tick_us is not None:
            told[TICK] = f"every {say_duration(self.tick_us)} of event time"
        yield (
            "Events",
            [
                (name, f"{said} ({', '.join(plan.attributes_of(name)) or 'no attribute'})")
                for name, said in told.items()
            ],
        )
        yield "Options", [("ties", self.ties), ("selection", self.selection), ("tick", self.tick or "none")]

    def drawn(self, form: str) -> str:
        """The graph of types and rules."""
        plan = self.plan()
        return draw_rules_dot(plan) if form == "dot" else draw_rules_svg(plan)


ENTRY = TeslaEntry


def _key(key: str | None, parallel: bool) -> str:
    if parallel:
        return f"{key}: runs in parallel"
    return "none: runs on one task" if key is None else f"{key}, which not all predicates ask for: runs on one task"


def _said(rule: Rule) -> str:
    parts = [rule.terminator.type]
    for clause in rule.clauses:
        match clause:
            case Positive(policy, number, predicate, scope):
                word = policy if policy == "each" or number == 1 else f"{number}-{policy}"
                parts.append(f"{word} {predicate.type} within {say_duration(scope.span_us)}")
            case Negation(predicate, scope):
                span = f"within {say_duration(scope.span_us)}" if isinstance(scope, Within) else "between"
                parts.append(f"no {predicate.type} {span}")
            case Compared():
                parts.append("a condition")
    consumed = f", consuming {', '.join(each.name for each in rule.consuming)}" if rule.consuming else ""
    return f"{rule.type} of {', '.join(parts)}{consumed}"
