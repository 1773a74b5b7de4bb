"""Results of a query: bindings with the events they come from, each named by a hash of what it says."""

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from foresail.patterns.spaseq.expressions import Mu
from foresail.patterns.spaseq.plan import Plan
from foresail.patterns.spaseq.runs import Found, steps_of

_ID_DIGITS = 32
_SEPARATOR = "\x1f"


class MatchedEvent(NamedTuple):
    """An event of a result."""

    gpm: str
    stream: str
    time_us: int


@dataclass(frozen=True, slots=True)
class Binding:
    """One result."""

    binding_id: str
    query: str
    time_us: int
    """Of the last event."""
    bindings: dict[str, str]
    """By variable its term in N-Triples notation; unbound ones are left out."""
    events: tuple[MatchedEvent, ...]
    """In the order of the SEQ text."""


class Projection:
    """From matches to results."""

    def __init__(self, plan: Plan) -> None:
        self._plan = plan
        self._slots = [(name, plan.slots[name]) for name in plan.projected if name in plan.slots]
        self._by_bindings = plan.options.distinct == "bindings"
        self._names = [(plan.gpms[gpm].name, plan.gpms[gpm].stream) for gpm in plan.use_gpm]

    def results(self, found: Iterable[Found]) -> list[Binding]:
        """The results of matches of one instant, each once, in the order of their ids."""
        every: dict[str, Binding] = {}
        for match in found:
            for result in self._of(match):
                other = every.get(result.binding_id)
                if other is None or result.events < other.events:
                    every[result.binding_id] = result
        return [every[name] for name in sorted(every)]

    def _of(self, match: Found) -> Iterator[Binding]:
        events = tuple(MatchedEvent(*self._names[use], time_us) for use, time_us in steps_of(match.trace))
        said = [f"{gpm} {stream} {time_us}" for gpm, stream, time_us in events]
        for mu in match.mappings:
            bindings = self._bindings(mu)
            terms = [f"{name} {term}" for name, term in sorted(bindings.items())]
            kept = [str(match.time_us)] if self._by_bindings else said
            name = _SEPARATOR.join((self._plan.name, *kept, *terms))
            binding_id = hashlib.sha256(name.encode()).hexdigest()[:_ID_DIGITS]
            yield Binding(binding_id, self._plan.name, match.time_us, bindings, events)

    def _bindings(self, mu: Mu) -> dict[str, str]:
        return {name: term for name, slot in self._slots if (term := mu[slot]) is not None}
