"""The published workloads of patterns with memory over trades, as our catalog, Esper and FlinkCEP write them."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from foresail.patterns.conditions import AttributeType
from foresail.patterns.conditions.evaluate import ArrayColumn

SYMBOLS = ("INTC", "RIMM", "QQQ", "IPIX", "AMAT", "CSCO", "YHOO", "DELL", "ORCL", "MSFT")
OTHERS = 40
KINDS = ("BUY", "SELL")
SEED = 1
SECOND_US = 1_000_000


@dataclass(frozen=True)
class Step:
    """One trade of a pattern: what it must be, alone and next to the one that a register holds."""

    symbol: str
    kind: str = ""
    """BUY, SELL, or either."""
    lowest: float | None = None
    highest: float | None = None
    operator: str = ""
    register: str = ""
    keeps: str = ""
    plus: bool = False
    """Once or more, anything between."""

    def condition(self) -> str:
        """As a catalog says it."""
        parts = [f'name == "{self.symbol}"']
        parts += [f'type == "{self.kind}"'] if self.kind else []
        parts += [f"price > {self.lowest}"] if self.lowest is not None else []
        parts += [f"price < {self.highest}"] if self.highest is not None else []
        parts += [f"price {self.operator} {self.register}.price"] if self.operator else []
        return " and ".join(parts)


@dataclass(frozen=True)
class Workload:
    """A pattern of steps under skip-till-any within a number of seconds; trades come every second."""

    name: str
    steps: tuple[Step, ...]
    window_s: int
    text: str | None = None
    """Where the steps are not simply one after the other."""

    @property
    def where(self) -> dict[str, str]:
        """The conditions, by the names s0, s1, ..."""
        return {f"s{n}": step.condition() for n, step in enumerate(self.steps)}

    @property
    def pattern(self) -> str:
        """In our language."""
        if self.text:
            return self.text
        parts = [
            f"any(s{n}+)" if step.plus else f"s{n}" + (f" as {step.keeps}" if step.keeps else "")
            for n, step in enumerate(self.steps)
        ]
        return f"any({', '.join(parts)})"

    @property
    def in_esper(self) -> str | None:
        """A pattern of `every`, or where steps repeat a row pattern; None where neither says it."""
        if self.text:
            return None
        return self._row_pattern() if any(step.plus for step in self.steps) else self._every()

    def _every(self) -> str:
        named = {step.keeps: f"e{n}" for n, step in enumerate(self.steps) if step.keeps}
        filters = [f"every e{n}=Trade({self._filter(step, named, '')})" for n, step in enumerate(self.steps)]
        return (
            f"select * from pattern [{filters[0]} -> (({' -> '.join(filters[1:])}) "
            f"where timer:within({self.window_s * 1000 + 1} msec))]"
        )

    def _row_pattern(self) -> str:
        named = {step.keeps: f"E{n}" for n, step in enumerate(self.steps) if step.keeps}
        rows = " G* ".join(f"E{n} (G* E{n})*" if step.plus else f"E{n}" for n, step in enumerate(self.steps))
        inside = f"time - E0.time <= {self.window_s * 1000}"
        defined = [f"E{n} as {self._filter(s, named, f'E{n}.')}" for n, s in enumerate(self.steps)]
        defined = [defined[0], *(f"{some} and E{n}.{inside}" for n, some in enumerate(defined[1:], 1))]
        return (
            "select * from Trade match_recognize (measures E0.time as began all matches "
            "after match skip to current row "
            f"pattern ({rows}) define G as G.{inside}, {', '.join(defined)})"
        )

    def _filter(self, step: Step, named: dict[str, str], own: str) -> str:
        separator = " and " if own else ", "
        parts = [f"{own}name = '{step.symbol}'"]
        parts += [f"{own}type = '{step.kind}'"] if step.kind else []
        parts += [f"{own}price > {step.lowest}"] if step.lowest is not None else []
        parts += [f"{own}price < {step.highest}"] if step.highest is not None else []
        parts += [f"{own}price {step.operator} {named[step.register]}.price"] if step.operator else []
        return separator.join(parts)

    @property
    def in_flink(self) -> str | None:
        """The lines that its peer reads; None where it has no such iteration."""
        if self.text or any(step.plus for step in self.steps):
            return None
        named = {step.keeps: f"s{n}" for n, step in enumerate(self.steps) if step.keeps}
        lines = [str(self.window_s * 1000)]
        for n, step in enumerate(self.steps):
            low, high = ("" if limit is None else str(limit) for limit in (step.lowest, step.highest))
            lines.append(f"s{n};{step.kind};{step.symbol};{low};{high};{step.operator};{named.get(step.register, '')}")
        return "\n".join(lines) + "\n"


TRIPLES = (("INTC", "RIMM", "QQQ"), ("IPIX", "AMAT", "CSCO"), ("YHOO", "DELL", "ORCL"), ("MSFT", "INTC", "RIMM"))


def sequence(length: int, window_s: int = 500, kleene: bool = False) -> Workload:
    """seq3 to seq12: triples of a trade that is kept, another, and one above the kept; k3 to k12 repeat the second."""
    steps: list[Step] = []
    for register, (first, second, third) in zip("xyzw", TRIPLES[: length // 3], strict=False):
        steps += [
            Step(first, "SELL", keeps=register),
            Step(second, "BUY", highest=500.0 if kleene else None, plus=kleene),
            Step(third, "BUY", operator=">", register=register),
        ]
    return Workload(f"{'k' if kleene else 'seq'}{length}", tuple(steps), window_s)


def nested(groups: int, window_s: int) -> Workload:
    """kn4 to kn16: a kept trade, once or more (one, then another once or more), one below the kept; in groups."""
    names = (("INTC", "RIMM", "QQQ", "MSFT"), ("IPIX", "AMAT", "CSCO", "ORCL")) * 2
    steps: list[Step] = []
    parts = []
    for register, (first, second, third, last) in zip("xyzw", names[:groups], strict=False):
        n = len(steps)
        steps += [
            Step(first, "SELL", keeps=register),
            Step(second, "BUY", highest=500.0),
            Step(third, "BUY"),
            Step(last, "SELL", operator="<", register=register),
        ]
        parts += [f"s{n} as {register}", f"any(any(s{n + 1}, any(s{n + 2}+))+)", f"s{n + 3}"]
    return Workload(f"kn{4 * groups}", tuple(steps), window_s, f"any({', '.join(parts)})")


def queries(window_s: int = 1000) -> tuple[Workload, ...]:
    """q1 to q5."""
    low = (26.0, 11.14, None, 18.91)

    def query(name: str, kind: str, limits: tuple[float | None, ...]) -> Workload:
        first, second, third, last = limits
        steps = (
            Step("MSFT", "SELL", lowest=first, keeps="r"),
            Step("ORCL", kind, lowest=second),
            Step("CSCO", kind, lowest=third),
            Step("AMAT", "SELL", lowest=last, operator="<", register="r"),
        )
        return Workload(name, steps, window_s)

    free = (None, None, None, None)
    kept, last = Step("MSFT", "SELL", keeps="r"), Step("AMAT", "SELL", operator="<", register="r")
    return (
        query("q1", "BUY", free),
        query("q2", "BUY", low),
        query("q3", "", free),
        query("q4", "", low),
        Workload("q5", (kept, Step("QQQ", "", lowest=40.0, plus=True), last), window_s),
    )


def trades(count: int) -> dict[str, ArrayColumn]:
    """A stream of trades a second apart: each symbol of the patterns is one in fifty."""
    random = np.random.default_rng(SEED)
    words = (*SYMBOLS, *(f"X{n}" for n in range(OTHERS)))
    share = np.array([0.02] * len(SYMBOLS) + [(1 - 0.02 * len(SYMBOLS)) / OTHERS] * OTHERS)
    price: NDArray[np.float64] = np.round(10 + np.abs(random.normal(0, 15, count)), 2)
    return {
        "name": ArrayColumn(
            random.choice(len(words), count, p=share).astype(np.int32), None, AttributeType.STRING, words
        ),
        "type": ArrayColumn(random.integers(0, 2, count).astype(np.int32), None, AttributeType.STRING, KINDS),
        "price": ArrayColumn(price, None, AttributeType.NUMBER),
        "time": ArrayColumn(np.arange(1, count + 1) * SECOND_US, None, AttributeType.TIMESTAMP),
    }
