"""Forecasts compared with what really happens: kept until the match comes or their time is over, then counted.

Only the forecasts of some tracks are followed (by a hash of the name), which is enough to see a model become worse.

Rolling scores of a pattern's forecasts: the last so many settled ones.
"""

import zlib
from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from math import sqrt
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from foresail.models.forecasts import Forecasts
from foresail.models.model import Emission, Model
from foresail.patterns.recognition.forms import MonitorForm
from foresail.patterns.recognition.protocol import Finding
from foresail.patterns.recognition.rows import DETECTED, OPENED, UPDATED
from foresail.pipeline.stream.bucket.ordering import Ordered

_FAR = 1 << 40
"""More events than a track ever has: keeps the keys of tracks apart."""
_BETWEEN = "\x1f"
COLUMNS = ("track", "pattern", "index", "until", "probability", "positive")


class Outcomes:
    """What is still open in a bucket, and the tally of what was settled in this micro-batch."""

    def __init__(self, share: int, pending: pd.DataFrame | None, positive: Iterable[str] = ()) -> None:
        self._share = share
        self._pending = pending if pending is not None else pd.DataFrame({name: [] for name in COLUMNS})
        self.tally: dict[str, dict[str, float]] = {}
        self.positive = dict.fromkeys(positive, True)
        """Tracks whose last forecast was positive, by model and feature."""

    def go_on(self, before: MonitorForm, after: MonitorForm) -> None:
        """Take over from a monitor of another form: forecasts of patterns that are forecast no more have no outcome."""
        if before == after:
            return
        forecast = {model.pattern for part in after.parts for model in part.models}
        self._pending = self._pending[self._pending["pattern"].isin(forecast)].reset_index(drop=True)
        now = {about: place for place, about in _places(after).items()}
        moved = {place: now[about] for place, about in _places(before).items() if about in now}
        held = [name.split(_BETWEEN) for name in self.positive]
        self.positive = {
            _BETWEEN.join((moved[group, model][0], track, moved[group, model][1], feature)): True
            for group, track, model, feature in held
            if (group, model) in moved
        }

    def saved(self) -> pd.DataFrame | None:
        """What is still open."""
        return self._pending if len(self._pending) else None

    def read(self, forecasts: Forecasts, models: Sequence[Model], found: Finding | None, ordered: Ordered) -> None:
        """Settle what the events decide, and keep the new forecasts."""
        followed = np.array([zlib.crc32(track.encode()) % self._share == 0 for track in ordered.tracks])
        slots = np.repeat(np.arange(len(ordered.tracks)), np.diff(ordered.first_of))
        rows = np.flatnonzero(followed[slots[forecasts.event]]) if len(forecasts) else np.empty(0, dtype=np.int64)
        ahead = np.array([model.settings.events_ahead for model in models], dtype=np.int64)
        patterns = np.array([model.pattern for model in models], dtype=object)
        fresh = pd.DataFrame(
            {
                "track": ordered.tracks[slots[forecasts.event[rows]]],
                "pattern": patterns[forecasts.model[rows]],
                "index": forecasts.index[rows],
                "until": forecasts.index[rows] + ahead[forecasts.model[rows]],
                # where no interval reaches the threshold nothing is expected
                "probability": np.nan_to_num(forecasts.probability[rows]),
                "positive": forecasts.positive[rows].astype(np.bool_),
            }
        )
        open_ones = pd.concat([self._pending, fresh], ignore_index=True) if len(self._pending) else fresh
        if not len(open_ones):
            return
        last = fresh.groupby(["track", "pattern"])["index"].max()
        self._settle(open_ones, _matches(found, ordered, followed, slots), last)

    def _settle(self, open_ones: pd.DataFrame, matches: pd.DataFrame, last: "pd.Series[Any]") -> None:
        keys = open_ones["track"] + "\x1f" + open_ones["pattern"]
        codes, names = pd.factorize(keys)
        number = pd.Series(np.arange(len(names)), index=names)
        mine = number.reindex(matches["track"] + "\x1f" + matches["pattern"]).to_numpy()
        known = ~np.isnan(mine)
        at = np.sort(mine[known].astype(np.int64) * _FAR + matches["index"].to_numpy()[known])
        here = codes * _FAR + open_ones["index"].to_numpy()
        place = np.searchsorted(at, here, side="right")
        following = np.append(at, np.iinfo(np.int64).max)[place]
        happened = following <= codes * _FAR + open_ones["until"].to_numpy()
        reached = last.reindex(pd.MultiIndex.from_frame(open_ones[["track", "pattern"]])).fillna(-1).to_numpy()
        settled = happened | (reached >= open_ones["until"].to_numpy())
        for pattern, some in open_ones[settled].assign(happened=happened[settled]).groupby("pattern"):
            self._count(str(pattern), some)
        self._pending = open_ones[~settled].reset_index(drop=True)

    def _count(self, pattern: str, some: pd.DataFrame) -> None:
        positive, happened = some["positive"].to_numpy(bool), some["happened"].to_numpy(bool)
        counts = {
            "tp": float((positive & happened).sum()),
            "fp": float((positive & ~happened).sum()),
            "fn": float((~positive & happened).sum()),
            "tn": float((~positive & ~happened).sum()),
            "squares": float(((some["probability"].to_numpy(float) - happened) ** 2).sum()),
        }
        counts |= _by_probability(some["probability"].to_numpy(float), happened)
        held = self.tally.setdefault(pattern, dict.fromkeys(counts, 0.0))
        for name, value in counts.items():
            held[name] += value


BINS = 20
"""Probabilities are told apart by twentieths: finer ones would each rest on too few forecasts."""
BINNED = tuple(f"{what}_{n}" for what in ("forecast", "happened") for n in range(BINS))


def _by_probability(probability: NDArray[np.float64], happened: NDArray[np.bool_]) -> dict[str, float]:
    """How many forecasts there were of each twentieth of probability, and how many of them came true."""
    twentieth = np.clip((probability * BINS + 1e-9).astype(np.int64), 0, BINS - 1)
    counts = [*np.bincount(twentieth, minlength=BINS), *np.bincount(twentieth[happened], minlength=BINS)]
    return {name: float(count) for name, count in zip(BINNED, counts, strict=True)}


def _places(form: MonitorForm) -> dict[tuple[str, str], tuple[str | None, str]]:
    """By the group and number of each model, as `positive` names them, its layer and pattern."""
    layers = [part.layer for part in form.of("families")]
    return {
        (str(None if part.layer is None else layers.index(part.layer)), str(number)): (part.layer, model.pattern)
        for part in form.parts
        for number, model in enumerate(part.models)
    }


def _matches(
    found: Finding | None, ordered: Ordered, followed: NDArray[np.bool_], slots: NDArray[np.int64]
) -> pd.DataFrame:
    if found is None or not len(found.results):
        return pd.DataFrame({"track": [], "pattern": [], "index": []}, dtype=object)
    matches = found.results
    rows = np.flatnonzero(np.isin(matches.status, (DETECTED, OPENED, UPDATED)) & followed[slots[matches.event]])
    names = np.array([pattern.name for pattern in found.by.patterns], dtype=object)
    return pd.DataFrame(
        {
            "track": ordered.tracks[slots[matches.event[rows]]],
            "pattern": names[matches.pattern[rows]],
            "index": matches.index[rows],
        }
    )


def chosen(
    forecasts: Forecasts, emission: Emission, ordered: Ordered, before: dict[str, bool], group: int | None
) -> Forecasts:
    """The forecasts that are to be emitted: all, the positive ones, or those where positive begins or ends.

    `before` holds, for those tracks whose last forecast was positive, that it was; it is brought up to date.
    """
    if emission == "all" or not len(forecasts):
        return forecasts
    positive = forecasts.positive.astype(np.bool_)
    if emission == "positive":
        return forecasts.taken(np.flatnonzero(positive))
    slots = np.searchsorted(ordered.first_of, forecasts.event, side="right") - 1
    order = np.lexsort((forecasts.event, forecasts.feature, forecasts.model, slots))
    kinds = np.stack([slots[order], forecasts.model[order], forecasts.feature[order]], axis=1)
    first = np.r_[True, (kinds[1:] != kinds[:-1]).any(axis=1)]
    last = np.r_[first[1:], True]
    previous = np.r_[False, positive[order][:-1]]
    parts = [(group, ordered.tracks[slot], model, feature) for slot, model, feature in kinds[first]]
    names = [_BETWEEN.join(map(str, some)) for some in parts]
    previous[first] = [before.get(name, False) for name in names]
    for name, held in zip(names, positive[order][last], strict=True):
        if held:
            before[name] = True
        else:
            before.pop(name, None)
    return forecasts.taken(np.sort(order[previous != positive[order]]))


COUNTED = ("tp", "fp", "fn", "tn", "squares")


@dataclass(slots=True)
class Rolling:
    """Outcomes of the last `window` forecasts, in the portions in which they came."""

    window: int
    portions: deque[dict[str, float]] = field(default_factory=deque)

    def add(self, outcomes: dict[str, float]) -> None:
        """Take in settled forecasts, and let go of the oldest beyond the window."""
        self.portions.append({name: float(outcomes.get(name, 0.0)) for name in (*COUNTED, *BINNED)})
        while len(self.portions) > 1 and self.settled() - _number(self.portions[0]) >= self.window:
            self.portions.popleft()

    def settled(self) -> float:
        """How many forecasts the scores look back on."""
        return sum(map(_number, self.portions))

    def scores(self) -> dict[str, float]:
        """F1, MCC, Brier score and how many forecasts they rest on."""
        tp, fp, fn, tn, squares = (sum(portion[name] for portion in self.portions) for name in COUNTED)
        number = tp + fp + fn + tn
        spread = sqrt((tp + fp) * (tp + fn) * (tn + fp) * (tn + fn))
        return {
            "f1": 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else 0.0,
            "mcc": (tp * tn - fp * fn) / spread if spread else 0.0,
            "brier": squares / number if number else 0.0,
            "settled": number,
        }

    def by_probability(self) -> dict[str, list[int]]:
        """Of each twentieth of probability: how many forecasts had it, and how many of them came true."""
        sums = [int(sum(portion[name] for portion in self.portions)) for name in BINNED]
        return {"forecasts": sums[:BINS], "happened": sums[BINS:]}

    def tells(self) -> bool:
        """Whether the scores rest on enough forecasts to be judged by."""
        return self.settled() >= self.window / 2


def _number(portion: dict[str, float]) -> float:
    return portion["tp"] + portion["fp"] + portion["fn"] + portion["tn"]
