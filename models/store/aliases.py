"""How the aliases of a pattern change: a record in, a record out, each step with the decision that tells of it.

Whether a challenger is better than the champion by enough: the sentence that promotion rests on.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from foresail.models.errors import PromotionError, UnknownModelError
from foresail.models.store.manifest import Decision, Record, Scored

CHAMPION = "champion"
CHALLENGER = "challenger"
EARLIER = re.compile(r"earlier-([1-9]\d*)")


def is_alias(name: str) -> bool:
    """Whether the name is no version but stands for one."""
    return name in (CHAMPION, CHALLENGER) or EARLIER.fullmatch(name) is not None


@dataclass(frozen=True, slots=True)
class Moment:
    """When something is decided, and of which pattern in which store: what messages name."""

    at: str
    pattern: str
    place: str


def resolved(record: Record, name: str, moment: Moment) -> str:
    """The version behind an alias (champion, challenger, earlier-1, ...); a version stands for itself."""
    number = EARLIER.fullmatch(name)
    found: str | None = name
    if name == CHAMPION:
        found = record.champion
    elif name == CHALLENGER:
        found = record.challenger
    elif number:
        found = record.earlier[int(number[1]) - 1] if int(number[1]) <= len(record.earlier) else None
    if found is None:
        msg = f"{moment.place}: {moment.pattern} has no {name}. Train a model with `foresail train`, or name a version."
        raise UnknownModelError(msg)
    return found


def promoted(record: Record, version: str, why: str, moment: Moment, expected: str | None = None) -> Record:
    """`version` serves from now on; refused when the champion is not the `expected` one any more."""
    if expected is not None and record.champion != expected:
        msg = (
            f"{moment.place}: the champion of {moment.pattern} is {record.champion} by now, not {expected}: another "
            "promotion was quicker. Evaluate against it, then try again."
        )
        raise PromotionError(msg)
    if record.champion == version:
        return record
    earlier = tuple(held for held in (record.champion, *record.earlier) if held is not None and held != version)
    decision = Decision(moment.at, "promoted", version, record.champion, why)
    challenger = None if record.challenger == version else record.challenger
    return replace(record, champion=version, challenger=challenger, earlier=earlier).with_decision(decision)


def kept(record: Record, version: str, why: str, moment: Moment) -> Record:
    """The champion goes on serving, and the record says why `version` does not."""
    return record.with_decision(Decision(moment.at, "kept", version, record.champion, why))


def rolled_back(record: Record, why: str, moment: Moment, exists: Callable[[str], bool]) -> Record:
    """The last champion before this one whose files are there serves again."""
    back = next((version for version in record.earlier if exists(version)), None)
    if back is None:
        msg = f"{moment.place}: no earlier champion of {moment.pattern} is left. Train one with `foresail train`."
        raise PromotionError(msg)
    earlier = record.earlier[record.earlier.index(back) + 1 :]
    decision = Decision(moment.at, "rolled back", back, record.champion, why)
    return replace(record, champion=back, earlier=earlier).with_decision(decision)


DEFAULT_METRIC = "mcc"


@dataclass(frozen=True, slots=True)
class Judgement:
    """Whether to promote, and why in words."""

    better: bool
    why: str
    champion: str | None
    """The champion that was compared with."""


def judged(record: Record, version: str, margin: float, metric: str = DEFAULT_METRIC) -> Judgement:
    """`version` against the champion on the newest data that both were scored on."""
    champion = record.champion
    if champion is None:
        return Judgement(True, "there is no champion yet", None)
    if champion == version:
        return Judgement(False, "it is the champion", champion)
    if _trained_until(record, version) < _trained_until(record, champion):
        return Judgement(False, f"it was trained on older data than the champion {champion}", champion)
    mine = record.scored(version)
    if mine is None:
        msg = f"{version}: no scores of it are known. Run `foresail models evaluate` first."
        raise PromotionError(msg)
    theirs = record.scored(champion, mine.data)
    if theirs is None:
        msg = (
            f"{version}: scored on {mine.data}, its champion {champion} was not. Run `foresail models evaluate` again."
        )
        raise PromotionError(msg)
    ours, other = _value(mine, metric), _value(theirs, metric)
    comparison = f"{metric} {ours:.4f} against {other:.4f} of {champion} on {mine.data}"
    if ours >= other + margin:
        return Judgement(
            True, f"{comparison}: better by {ours - other:.4f}, at least the margin of {margin:g}", champion
        )
    return Judgement(False, f"{comparison}: {ours - other:+.4f} does not reach the margin of {margin:g}", champion)


def _trained_until(record: Record, version: str) -> int:
    return record.models.get(version, {}).get("last_us") or 0


def _value(scored: Scored, metric: str) -> float:
    if metric not in scored.values:
        msg = f"{scored.version}: no score '{metric}'. There are: {', '.join(sorted(scored.values))}."
        raise PromotionError(msg)
    return float(scored.values[metric])
