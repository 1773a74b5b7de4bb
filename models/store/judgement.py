"""Whether a challenger is better than the champion by enough: the sentence that promotion rests on."""

from dataclasses import dataclass

from foresail.models.errors import PromotionError
from foresail.models.store.manifest import Record, Scored

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
    told = f"{metric} {ours:.4f} against {other:.4f} of {champion} on {mine.data}"
    if ours >= other + margin:
        return Judgement(True, f"{told}: better by {ours - other:.4f}, at least the margin of {margin:g}", champion)
    return Judgement(False, f"{told}: {ours - other:+.4f} does not reach the margin of {margin:g}", champion)


def _trained_until(record: Record, version: str) -> int:
    return record.models.get(version, {}).get("last_us") or 0


def _value(scored: Scored, metric: str) -> float:
    if metric not in scored.values:
        msg = f"{scored.version}: no score '{metric}'. There are: {', '.join(sorted(scored.values))}."
        raise PromotionError(msg)
    return float(scored.values[metric])
